package policyedit

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/policy"
)

// Said is what a model made of a person's words about the policy: rules that ask or refuse, lists of people, and cells of the table.
// Nothing in it lets a call run but a weaker cell, and that is told (Told).
type Said struct {
	Rules []struct {
		Name   string `json:"name"`
		Effect string `json:"effect"`
		When   string `json:"when"`
		Reason string `json:"reason"`
		People int    `json:"people"`
	} `json:"rules"`
	Groups []struct {
		Name    string   `json:"name"`
		Members []string `json:"members"`
	} `json:"groups"`
	Warrants []struct {
		Act      string `json:"act"`
		Slot     string `json:"slot"`
		Evidence string `json:"evidence"`
	} `json:"warrants"`
	Left string `json:"left"` // what could not be said, in words
}

//go:embed write.txt
var writeSystem string

//go:embed write.schema.json
var writeSchema string

// The bounds of what is shown to a model, and taken from it.
const (
	maxSaidTools = 200
	maxSaid      = 20 // rules, groups and cells, each
)

// shownTool are names of tools that are shown: others are for whoever wrote them.
var shownTool = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,64}$`)

// Asking is what a model is asked for a person's words: what it is told, what it is shown, and how it answers. Of the policy file it
// sees the names of its groups, no more.
func Asking(words string, tools, groups []string, faults string) (system, user, schema string) {
	var b strings.Builder
	names := slices.DeleteFunc(slices.Clone(tools), func(s string) bool { return !shownTool.MatchString(s) })
	fmt.Fprintf(&b, "Tools seen here: %s\n", strings.Join(names[:min(len(names), maxSaidTools)], " "))
	fmt.Fprintf(&b, "Groups there are: %s\n", strings.Join(groups, " "))
	fmt.Fprintf(&b, "What the person says, as JSON: %s\n", quote(words))
	if faults != "" {
		fmt.Fprintf(&b, "\nYour last answer had these faults; answer again without them:\n%s\n", faults)
	}
	return writeSystem, b.String(), writeSchema
}

// ReadSaid reads the answer of a model. What is none is refused whole.
func ReadSaid(answer string) (*Said, error) {
	var s Said
	text := strings.TrimSpace(answer)
	if _, inner, fenced := strings.Cut(text, "```"); fenced { // some models cannot leave it
		inner, _, _ = strings.Cut(inner, "```")
		text = strings.TrimSpace(strings.TrimPrefix(inner, "json"))
	}
	if err := strictjson.UnmarshalKnown([]byte(text), &s); err != nil {
		return nil, fmt.Errorf("the answer is not what was asked for: %w", err)
	}
	if len(s.Rules) > maxSaid || len(s.Groups) > maxSaid || len(s.Warrants) > maxSaid {
		return nil, fmt.Errorf("the answer has more than %d rules, groups or cells", maxSaid)
	}
	for _, r := range s.Rules {
		if r.Effect != "deny" && r.Effect != "escalate" {
			return nil, fmt.Errorf("rule %q: a proposed rule asks or refuses, it does not %q", r.Name, r.Effect)
		}
	}
	return &s, nil
}

// Add is the policy file with what was said, and with nothing else changed. What the file says of a name already stays as it is.
func Add(file string, src []byte, s *Said) ([]byte, error) {
	out := src
	for _, g := range s.Groups {
		var members []string
		for _, m := range g.Members {
			members = append(members, quote(m))
		}
		var err error
		if out, err = added(file, out, "/groups/"+g.Name, func(e *edit, root *configfile.Node) bool {
			return root.Get("groups").Get(g.Name) == nil && e.set(root, []string{"groups", g.Name}, "["+strings.Join(members, ", ")+"]", 0)
		}); err != nil {
			return nil, err
		}
	}
	for _, w := range s.Warrants {
		var err error
		path := []string{"warrants", w.Act, w.Slot}
		if out, err = added(file, out, "/"+strings.Join(path, "/"), func(e *edit, root *configfile.Node) bool {
			return e.set(root, path, word(w.Evidence), 0)
		}); err != nil {
			return nil, err
		}
	}
	for _, r := range s.Rules {
		effect := strings.Replace(r.Effect, "escalate", "ask", 1) // models are asked in the words of before
		entry := []string{"- name: " + word(r.Name), "  when: " + quote(r.When), "  effect: " + effect}
		if r.Reason != "" {
			entry = append(entry, "  reason: "+quote(r.Reason))
		}
		if r.People > 1 {
			entry = append(entry, "  people: "+strconv.Itoa(r.People))
		}
		var err error
		if out, err = added(file, out, "/rules/["+r.Name+"]", func(e *edit, root *configfile.Node) bool {
			return named(root.Get("rules"), r.Name) == nil && e.addRule(root.Get("rules"), 0, entry)
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// added makes one change, and looks that it is no other.
func added(file string, src []byte, within string, change func(*edit, *configfile.Node) bool) ([]byte, error) {
	root, faults := configfile.Parse(file, src)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	e := edit{lines: linesOf(src)}
	if !change(&e, root) {
		return nil, fmt.Errorf("%w: %s is there already, or cannot be added to", ErrByHand, strings.TrimPrefix(within, "/"))
	}
	out := []byte(strings.Join(e.lines, "\n") + "\n")
	after, faults := configfile.Parse(file, out)
	if faults.Err() != nil || !only(flat(root), flat(after), within) {
		return nil, fmt.Errorf("%w: %s", ErrByHand, strings.TrimPrefix(within, "/"))
	}
	return out, nil
}

// strength are the words for evidence, the strongest first.
var strength = []string{"ask", "said", "assented", "own", "picked", "followed", "entailed", "delegated", "agent", "none"}

// Told says in plain words what each part would do, those that loosen apart and first to be read.
func (s *Said) Told(before *policy.Set) (tells, loosens []string) {
	for _, r := range s.Rules {
		does := "is denied"
		if r.Effect == "escalate" {
			does = "is asked about"
			if r.People > 1 {
				does += fmt.Sprintf(", and %d people must approve", r.People)
			}
		}
		tells = append(tells, fmt.Sprintf("%s: a call for which %s %s", r.Name, r.When, does))
	}
	for _, g := range s.Groups {
		tells = append(tells, fmt.Sprintf("%s is: %s", g.Name, strings.Join(g.Members, ", ")))
	}
	for _, w := range s.Warrants {
		was := before.Needs(w.Act, w.Slot)
		line := fmt.Sprintf("to %s something, the slot %s needs %q before it runs unasked; it needs %q now", w.Act, w.Slot, w.Evidence, was)
		if slices.Index(strength, w.Evidence) > slices.Index(strength, was) {
			loosens = append(loosens, line+": you would be asked less, and an attacker needs less")
		} else {
			tells = append(tells, line)
		}
	}
	return tells, loosens
}
