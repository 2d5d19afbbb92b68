// Package headless has the programs of agents answer as models that do nothing but answer: auditor.Answerer over Codex,
// Claude Code, Gemini CLI or OpenCode, as they are installed here and with the login that their owner gave them.
//
// The package starts programs and, to try one, serves a scripted model on loopback. How a program is started is data
// (recipes.json): what is left out there is not switched off, so a recipe is believed only where Try has seen what
// the installed version of the program sends.
//
// Invariants:
//   - words go in by standard input and stand in no argument and in no file of ours;
//   - a program has a folder of its own, private and made for one prompt, and a fresh environment; of the user's it gets the
//     home only where its login is there;
//   - it ends with its whole group, at the latest when its caller's time is up, and its folder with it;
//   - an answer is a complete object of the program's form; an exit code of 0 is none;
//   - a login is never read, copied or sent by us.
package headless

import (
	_ "embed" // the recipes are part of the program
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

//go:embed recipes.json
var recipesFile []byte

// Recipe is how a program is started as a model.
type Recipe struct {
	Name     string `json:"name"` // in policy files
	Title    string `json:"title"`
	Provider string `json:"provider"` // who gets what it sends
	Binary   string `json:"binary"`
	Model    string `json:"model"`    // a small one of the provider's
	Seen     string `json:"seen"`     // the version it was written for
	Revision int    `json:"revision"` // rises where the program is started otherwise: then it is tried again

	Login   []string          `json:"login"` // asks the program whether somebody is logged in; none: it cannot be asked
	Argv    []string          `json:"argv"`  // {form} stands for Form, or for nothing where no form is asked for
	Form    []string          `json:"form"`
	Env     map[string]string `json:"env"`
	Keep    []string          `json:"keep"` // variables of the user's environment
	Auth    *authKind         `json:"auth"`
	Links   map[string]string `json:"links"` // in its folder, to the user's files, where there are such
	Files   map[string]string `json:"files"` // in its folder
	Catalog *catalog          `json:"catalog"`
	Answer  string            `json:"answer"`  // the form of what it prints
	Input   string            `json:"input"`   // the form of what it reads: empty is the text itself
	Ahead   bool              `json:"ahead"`   // it waits for what it reads, so that it may be started before there is any
	Retries bool              `json:"retries"` // it asks again where a provider fails, which nothing switches off: its time ends it
	Inert   []string          `json:"inert"`   // tools that it sends and that can do nothing
	Away    []string          `json:"away"`    // what it prints where nobody is logged in
	Trial   trialRecipe       `json:"trial"`
}

// authKind is what a program is told about how it logs in, where it has to be told: with a key or without.
type authKind struct {
	Key     string `json:"key"`
	With    string `json:"with"`
	Without string `json:"without"`
}

// trialRecipe is what is different where the program is tried.
type trialRecipe struct {
	Argv []string          `json:"argv"`
	Env  map[string]string `json:"env"`
	Home map[string]string `json:"home"` // files of the home that it must not read from
}

// recipes are all of them, those that are offered first in front.
var recipes = func() []Recipe {
	var out []Recipe
	if err := strictjson.UnmarshalKnown(recipesFile, &out); err != nil {
		panic(fmt.Sprintf("read recipes: %v", err)) // a test reads them
	}
	return out
}()

// Names are the names of the recipes.
func Names() []string {
	out := make([]string, len(recipes))
	for i := range recipes {
		out[i] = recipes[i].Name
	}
	return out
}

// Find is the recipe of a name.
func Find(name string) (*Recipe, bool) {
	i := slices.IndexFunc(recipes, func(r Recipe) bool { return r.Name == name })
	if i < 0 {
		return nil, false
	}
	return &recipes[i], true
}

// places are what stands in braces in a recipe.
type places map[string]string

// fill puts values in the place of their names. What a value says is not looked at again.
func (p places) fill(s string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		pairs = append(pairs, "{"+name+"}", p[name])
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// command is the arguments, with the form or without.
func (r *Recipe) command(p places, schema string, more []string) []string {
	var out []string
	for i, a := range r.Argv {
		switch {
		case a == "{form}" && schema != "":
			for _, f := range r.Form {
				out = append(out, p.fill(f))
			}
		case a == "{form}":
		default:
			out = append(out, p.fill(a))
		}
		if i == 0 {
			for _, m := range more {
				out = append(out, p.fill(m))
			}
		}
	}
	return out
}
