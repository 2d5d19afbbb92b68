package pins

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/reports/definitions"
	"github.com/tidemark/tidemark/tool"
)

// maxDefinition bounds a definition that is kept, far above what a person could read.
const maxDefinition = 256 << 10

// read are the members of a definition that reach models, and so are pinned to the byte.
var read = definitions.Members()

// definitionOf reads one tool as it stands in a list.
func definitionOf(raw strictjson.Value) (event.Pin, error) {
	var all map[string]strictjson.Value
	if raw.Kind() != '{' || strictjson.Unmarshal(raw, &all) != nil {
		return event.Pin{}, errors.New("it is no object that can be read in one way")
	}
	var p event.Pin
	if n := all["name"]; n.Kind() != '"' || strictjson.Unmarshal(n, &p.Name) != nil || p.Name == "" {
		return event.Pin{}, errors.New("it has no name")
	}
	model := map[string]strictjson.Value{}
	for name, v := range all {
		if slices.ContainsFunc(read, func(r string) bool { return strings.EqualFold(r, name) }) { // some readers take any case
			model[name] = v
			delete(all, name)
		}
	}
	p.Caution = caution(all["_meta"]) || caution(all["annotations"])
	var err error
	if p.Text, p.Hash, err = canonical(model); err != nil {
		return event.Pin{}, err
	}
	if _, p.Rest, err = canonical(all); err != nil {
		return event.Pin{}, err
	}
	if p.More, err = moreOf(all); err != nil {
		return event.Pin{}, err
	}
	if hints := all["annotations"]; hints.Kind() == '{' && len(hints) <= maxDefinition {
		if p.Hints, _, err = canonical(hints); err != nil {
			return event.Pin{}, err
		}
	}
	if len(p.Text) > maxDefinition {
		p.Text = ""
	}
	return p, nil
}

// claims are the annotations that are compared by what they claim.
var claims = []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

// moreOf is what a definition has besides what models are known to read, without what hints claim: some client shows it to
// somebody.
func moreOf(all map[string]strictjson.Value) (string, error) {
	rest := maps.Clone(all)
	var notes map[string]strictjson.Value
	if v := rest["annotations"]; v.Kind() == '{' && strictjson.Unmarshal(v, &notes) == nil {
		delete(rest, "annotations")
		for _, name := range claims {
			delete(notes, name)
		}
		if len(notes) > 0 {
			raw, err := strictjson.Marshal(notes)
			if err != nil {
				return "", fmt.Errorf("read definition: %w", err)
			}
			rest["annotations"] = raw
		}
	}
	written, _, err := canonical(rest)
	if len(written) > maxDefinition {
		written = ""
	}
	return written, err
}

// same reports whether a definition says what the accepted one says. What hints claim is compared by loosened.
func same(was, is event.Pin) bool {
	if was.More == "" || is.More == "" { // it was accepted by an earlier version, or is too large to be kept
		return was.Hash == is.Hash && was.Rest == is.Rest
	}
	return was.Hash == is.Hash && was.More == is.More
}

// instructionsOf is the definition that a server's instructions are.
func instructionsOf(raw strictjson.Value) (event.Pin, error) {
	var p event.Pin
	var err error
	p.Text, p.Hash, err = canonical(map[string]strictjson.Value{"instructions": raw})
	if len(p.Text) > maxDefinition {
		p.Text = ""
	}
	return p, err
}

// canonical writes a value as RFC 8785 has it, and its hash. Whole numbers keep all their
// digits: two that a float cannot tell apart are two definitions.
func canonical(v any) (written, hash string, err error) {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return "", "", fmt.Errorf("read definition: %w", err)
	}
	value, err := strictjson.Canonical(raw)
	if err != nil {
		return "", "", fmt.Errorf("read definition: %w", err)
	}
	sum := sha256.Sum256(value)
	return string(value), hex.EncodeToString(sum[:]), nil
}

// caution reports whether a definition asks by itself for what follows it to be audited.
func caution(v strictjson.Value) bool {
	var all map[string]strictjson.Value
	if v.Kind() != '{' || strictjson.Unmarshal(v, &all) != nil {
		return false
	}
	for name, v := range all {
		if v.Kind() == 't' && slices.Contains([]string{"caution", "cautionHint", "tidemark/caution"}, name) {
			return true
		}
		if (name == "tidemark" || name == "openclaw") && caution(v) {
			return true
		}
	}
	return false
}

// hints are the annotations that say what a tool does not do.
type hints struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	Idempotent  *bool `json:"idempotentHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

func hintsOf(p event.Pin) hints {
	var h hints
	if p.Hints == "" || strictjson.Unmarshal([]byte(p.Hints), &h) != nil {
		return hints{} // what the protocol assumes where nothing is said
	}
	return h
}

func or(b *bool, fallback bool) bool {
	if b == nil {
		return fallback
	}
	return *b
}

// loosened says by which hint a definition claims to be more harmless than the accepted one.
// Where it claims less, nothing is lost.
func loosened(was, is event.Pin) string {
	a, b := hintsOf(was), hintsOf(is)
	switch {
	case !or(a.ReadOnly, false) && or(b.ReadOnly, false):
		return "it now says that it only reads (readOnlyHint)"
	case or(a.Destructive, true) && !or(b.Destructive, true):
		return "it now says that it destroys nothing (destructiveHint)"
	case !or(a.Idempotent, false) && or(b.Idempotent, false):
		return "it now says that repeating it changes nothing (idempotentHint)"
	case or(a.OpenWorld, true) && !or(b.OpenWorld, true):
		return "it now says that it reaches nothing outside (openWorldHint)"
	case was.Caution && !is.Caution:
		return "it no longer asks for caution"
	}
	return ""
}

// maxName is how long the protocol lets a name be.
const maxName = 128

// named says why a name cannot be used at all; "" where it can.
func named(name string) string {
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r))
	})
	switch {
	case name == "":
		return "it has no name"
	case len(name) > maxName:
		return fmt.Sprintf("its name has %d characters, and %d are allowed", len(name), maxName)
	case bad:
		return "its name " + text.Quote(name) + " has characters other than A-Z a-z 0-9 _ . -, so that it may look like another"
	}
	return ""
}

// folds is made once: it is asked before every call.
var folds = strings.NewReplacer("_", "", ".", "")

// fold makes names equal that policies, or people, would take for one another.
func fold(name string) string { return folds.Replace(tool.Name(name)) }

// warnings are what a person should know of a text before they accept it.
func warnings(written string) []string {
	var out []string
	hidden := strings.ContainsFunc(written, func(r rune) bool {
		return r >= 0xe0000 && r <= 0xe007f || strings.ContainsRune("\u200b\u200c\u200d\u2060\ufeff\u00ad", r)
	})
	turned := strings.ContainsFunc(written, func(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 })
	switch {
	case hidden:
		out = append(out, "it has characters that are not seen")
	case turned:
		out = append(out, "it has characters that change the direction of text")
	}
	if strings.Contains(written, `\u001b`) || strings.Contains(written, `\u009b`) {
		out = append(out, "it has control sequences of terminals")
	}
	if strings.Contains(written, strings.Repeat(" ", 40)) || strings.Contains(written, strings.Repeat(`\n`, 20)) {
		out = append(out, "it has long stretches of blanks, which may hide text")
	}
	return out
}
