package headless

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/external/auditor"
)

// Heard reports whether a text came to a server of ours by a hook since a time; nil where there is no log.
type Heard func(ctx context.Context, text string) (bool, error)

// trial is a place where a program is tried: a home and folders around it that hold what must not be read, and a model that
// is a script on loopback.
type trial struct {
	url, key, canary, mark string
}

// The bounds of a trial.
const (
	trialLimit = 90 * time.Second
	mostExtra  = 8 << 10 // what a request may hold besides what it was given
)

// trialAnswer is what the scripted model says.
const trialAnswer = `{"items":[],"reads":[],"follow":[],"never":[],"assents":false}`

// Try points the program at a model of ours, with an invented key, and looks at everything that it sends, does and leaves
// behind. The proof says what it found; an error is that it could not be tried.
func (p *Program) Try(ctx context.Context, heard Heard) (*Proof, error) {
	proof := &Proof{Program: p.o.Recipe.Name, Revision: p.o.Recipe.Revision, Tried: time.Now().UTC()}
	if err := proof.identify(p.o.Path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.o.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	root, err := os.MkdirTemp(p.o.Folder, "trial-")
	if err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(root) }() // it holds nothing of anybody's
	ctx, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	proof.Version = p.version(ctx)
	proof.Faults, err = p.tryIn(ctx, root, heard)
	return proof, err
}

var number = regexp.MustCompile(`\d+\.\d+(\.\d+)*`)

func (p *Program) version(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, p.o.Path, "--version") //nolint:gosec // the program that is tried
	cmd.WaitDelay = endLimit
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return number.FindString(string(out))
}

func (p *Program) tryIn(ctx context.Context, root string, heard Heard) ([]string, error) {
	t := &trial{
		canary: "canary-" + rand.Text(), mark: filepath.Join(root, "mark"),
		key: "sk-ant-api03-" + rand.Text() + rand.Text(),
	}
	m, stop, err := serve()
	if err != nil {
		return nil, err
	}
	defer stop()
	t.url = m.url
	tried := &Program{o: p.o, try: t}
	tried.o.Home, tried.o.Folder = filepath.Join(root, "home"), filepath.Join(root, "around", "inner")
	for _, dir := range []string{tried.o.Home, filepath.Join(root, "around")} {
		if err := t.poison(dir, p.o.Recipe.Trial.Home); err != nil {
			return nil, fmt.Errorf("make trial: %w", err)
		}
	}
	words, system := "words-"+rand.Text(), "system-"+rand.Text()+"\nAnswer with one JSON object."
	reply, failed := tried.Ask(ctx, auditor.Prompt{System: system, User: words, Schema: intent.ContractSchema})
	c := &checking{recipe: p.o.Recipe, trial: t, words: words, system: strings.SplitN(system, "\n", 2)[0], seen: m.requests()}
	c.answer(reply, failed)
	c.requests()
	c.left(root)
	if heard != nil {
		found, err := heard(ctx, words)
		if err != nil {
			return nil, fmt.Errorf("look for events of hooks: %w", err)
		}
		c.when(found, "a hook of ours fired in it: with hooks in the administrator's settings it would ask for itself")
	}
	return c.faults, nil
}

// poison writes files that must not be read.
func (t *trial) poison(dir string, files map[string]string) error {
	values := places{"canary": t.canary, "mark": t.mark, "key": t.key}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(values.fill(text)), 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// checking is what was found in a trial.
type checking struct {
	recipe        *Recipe
	trial         *trial
	words, system string
	seen          []seen
	faults        []string
}

func (c *checking) when(bad bool, format string, args ...any) {
	if bad {
		c.faults = append(c.faults, fmt.Sprintf(format, args...))
	}
}

func (c *checking) answer(reply auditor.Reply, failed error) {
	if failed != nil {
		c.when(true, "it gave no answer: %v", failed)
		return
	}
	_, err := intent.ParseContract(reply.Text, nil)
	c.when(err != nil, "its answer is not what the model said")
}

// requests looks through everything that was sent.
func (c *checking) requests() {
	asked := 0
	for _, s := range c.seen {
		all := s.head + string(s.body)
		c.when(strings.Contains(all, c.trial.canary), "it sends files of the home or of folders around it (%s)", s.path)
		if !s.asks {
			c.when(strings.Contains(all, c.words), "it sends the words to %s too", s.path)
			continue
		}
		asked++
		c.request(s)
	}
	c.when(asked == 0, "it asked the model nothing")
	c.when(asked > 1, "it asked the model %d times", asked)
}

func (c *checking) request(s seen) {
	var body any
	if err := strictjson.Unmarshal(s.body, &body); err != nil {
		c.when(true, "what it sends cannot be read")
		return
	}
	c.when(!bytes.Contains(s.body, []byte(c.words)), "it does not send the words")
	c.when(!bytes.Contains(s.body, []byte(c.system)), "it does not send our instructions")
	for _, name := range tools(body) {
		c.when(!slices.Contains(c.recipe.Inert, name), "it sends the tool %q", name)
	}
	c.when(len(s.body) > mostExtra+2*len(intent.ContractSchema), "it sends %d bytes, so much more than it was given", len(s.body))
}

// tools are the names of everything that a body offers for calling, however deep it stands: each entry of a list whose name
// speaks of tools or functions.
func tools(body any) []string {
	var out []string
	var look func(v any, offered bool)
	look = func(v any, offered bool) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				look(e, offered)
			}
		case map[string]any:
			if offered {
				if name := nameOf(v); name != "" {
					out = append(out, name)
				}
			}
			for key, e := range v {
				low := strings.ToLower(key)
				_, list := e.([]any)
				look(e, list && (strings.Contains(low, "tool") || strings.Contains(low, "function")))
			}
		case string:
			if offered {
				out = append(out, v)
			}
		}
	}
	look(body, false)
	return out
}

// holding are the members of something that only holds tools.
var holding = []string{"type", "name", "description", "tools", "functionDeclarations"}

// nameOf is what a tool is called; what only holds others has no name.
func nameOf(v map[string]any) string {
	if f, ok := v["function"].(map[string]any); ok {
		return nameOf(f)
	}
	_, space := v["tools"].([]any)
	_, declared := v["functionDeclarations"].([]any)
	unknown := slices.ContainsFunc(slices.Collect(maps.Keys(v)), func(key string) bool { return !slices.Contains(holding, key) })
	if (declared || space && v["type"] == "namespace") && !unknown {
		return ""
	}
	for _, key := range []string{"name", "type"} {
		if s, ok := v[key].(string); ok && s != "" {
			return s
		}
	}
	return "of no name"
}

// left looks for what the program did and left behind.
func (c *checking) left(root string) {
	_, err := os.Stat(c.trial.mark)
	c.when(err == nil, "it ran a hook or a server of the home or of folders around it")
	kept := ""
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // what cannot be read was not written for reading
		}
		//nolint:gosec // it is only searched for words of ours
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(c.words)) {
			kept = filepath.Base(path)
		}
		return nil
	})
	c.when(kept != "", "it leaves the words behind, in a file %s", kept)
}
