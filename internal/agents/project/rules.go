// Package project says which settings of a project are not known to be harmless: such as start a program by themselves, send
// the conversation elsewhere or take our hooks away. Agents read a folder's settings as soon as they are started in it, and
// no hook is asked about that.
//
// What is harmless is a list, harmless.txt; whatever is not on it is found, by its name, and so is a file that cannot be
// read for certain. Files are read here and nowhere written. It links little: the hook program asks at every call.
package project

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

//go:embed harmless.txt
var harmless string

// form is how a file is read.
type form string

const (
	inJSON   form = "json"
	inTOML   form = "toml"
	inVars   form = "vars"
	inHeads  form = "heads"
	noneThen form = "empty"
)

// place is some files of a project in one form, and what is harmless in them.
type place struct {
	form  form
	names []string
	keys  []key
}

// key is a harmless setting.
type key struct {
	path   []string
	values []string // the harmless ones, as JSON; none: all are
}

// rules are what is known of an agent.
type rules struct {
	up     bool
	never  []string
	places []*place
}

// known are the rules of harmless.txt, by agent.
var known = sync.OnceValues(func() (map[string]*rules, error) { return parse(harmless) })

// parse reads a list of harmless settings.
func parse(text string) (map[string]*rules, error) {
	out := map[string]*rules{}
	var r *rules
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(line, "#"):
		case words[0] == "agent" && len(words) == 2 && out[words[1]] == nil:
			r = &rules{}
			out[words[1]] = r
		case r == nil:
			return nil, fmt.Errorf("line %d: there is no agent yet", n)
		case line[0] == ' ':
			if len(r.places) == 0 {
				return nil, fmt.Errorf("line %d: there is no file yet", n)
			}
			k, err := setting(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			p := r.places[len(r.places)-1]
			p.keys = append(p.keys, k)
		case words[0] == "up" && len(words) == 1:
			r.up = true
		case words[0] == "never" && len(words) == 2:
			r.never = append(r.never, words[1])
		case slices.Contains([]form{inJSON, inTOML, inVars, inHeads, noneThen}, form(words[0])) && len(words) > 1:
			r.places = append(r.places, &place{form: form(words[0]), names: words[1:]})
		default:
			return nil, fmt.Errorf("line %d: %q is not understood", n, strings.TrimSpace(line))
		}
	}
	return out, nil
}

// setting reads one harmless setting.
func setting(line string) (key, error) {
	name, values, some := strings.Cut(line, " = ")
	k := key{path: strings.Split(strings.TrimSpace(name), ".")}
	if !some {
		return k, nil
	}
	k.values = strings.Fields(values)
	for _, v := range k.values {
		if !strictjson.Value(v).IsValid() {
			return key{}, fmt.Errorf("%s is no JSON value", v)
		}
	}
	if len(k.values) == 0 {
		return key{}, fmt.Errorf("no value stands behind =")
	}
	return k, nil
}

// holds reports whether a setting is harmless with this value.
func (p *place) holds(path []string, value string) bool {
	return slices.ContainsFunc(p.keys, func(k key) bool {
		if len(path) < len(k.path) || !slices.Equal(path[:len(k.path)], k.path) {
			return false
		}
		return len(k.values) == 0 || len(path) == len(k.path) && slices.ContainsFunc(k.values, func(v string) bool {
			return settings.Same(strictjson.Value(value), strictjson.Value(v))
		})
	})
}

// above reports whether something harmless stands below a path.
func (p *place) above(path []string) bool {
	return slices.ContainsFunc(p.keys, func(k key) bool { return len(k.path) > len(path) && slices.Equal(k.path[:len(path)], path) })
}
