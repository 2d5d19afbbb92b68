package shim

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/harness"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/trust"
)

// The bounds on files that a prompt refers to.
const (
	maxMentions  = 16
	maxMentioned = 256 << 10 // bytes of one that are looked at
)

// spoken is a prompt, taken apart.
type spoken struct {
	words  string       // the owner's own, or all of it where it is nobody's
	beside *hook.Source // what came in with it; nil: nothing
	files  []string     // that the agent takes in because the owner referred to them
}

// said tells the owner's own words in a prompt from what the agent's program put beside them. A prompt
// in which nobody typed a word is the agent's own.
func (a adapter) said(e *catalogue.Event, c *hook.Context) spoken {
	self := e.Speaker == catalogue.Itself && e.Branch == "" && e.Parent == ""
	if !c.SenderIsOwner && !self {
		return spoken{words: e.Words} // nobody's words as it is
	}
	d := harness.Divide(a.Name, e.Words)
	out := spoken{words: d.Words}
	switch {
	case d.Result || d.Summary != "":
		out.beside = &hook.Source{Kind: "prompt_content", Trust: trust.Untrusted}
	case d.Added, d.Report: // what a task of this session has read is known
		out.beside = &hook.Source{Kind: "prompt_content", Trust: trust.Local}
	case e.Ran:
		out.beside = &hook.Source{Kind: "prompt_content", Trust: trust.Untrusted}
	default:
		out.words = e.Words
	}
	if self || d.Words == "" && out.beside != nil {
		out.words = e.Words
		c.SenderIsOwner, c.SpawnedBy = false, c.SessionKey
		return out
	}
	var served bool
	if out.files, served = mentioned(d.Words); served {
		out.beside = &hook.Source{Kind: "mcp_resource", Trust: trust.Untrusted}
	}
	return out
}

// mentioned are the files that words refer to as "@name": agents take their contents in without a hook. Served
// says that something is among them that is not looked at, as what an MCP server has: "@server:scheme://…".
func mentioned(words string) (files []string, served bool) {
	for i := range len(words) {
		if words[i] != '@' || i > 0 && strings.IndexByte(" \t\r\n\"'`([{<,;:", words[i-1]) < 0 {
			continue
		}
		name := mention(words[i+1:])
		switch {
		case name == "":
		case len(files) >= maxMentions, strings.Contains(name, "://") && !strings.HasPrefix(name, "file://"):
			served = true
		default:
			files = append(files, strings.TrimPrefix(name, "file://"))
		}
	}
	return files, served
}

// mention is the name that a text begins with: in quotes, or up to a blank that no backslash stands before.
func mention(text string) string {
	if text != "" && strings.IndexByte("\"'", text[0]) >= 0 {
		name, _, _ := strings.Cut(text[1:], text[:1])
		return name
	}
	var name strings.Builder
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\' && i+1 < len(text) && text[i+1] == ' ':
			name.WriteByte(' ')
			i++
		case strings.IndexByte(" \t\r\n\"'`<>()[]{},;", b) >= 0:
			return name.String()
		default:
			name.WriteByte(b)
		}
	}
	return name.String()
}

// referred tells the server what stands in files that the owner's words refer to, as if the agent had read
// them: it has, and no hook is run for it.
func (a adapter) referred(ctx context.Context, s *server, e *catalogue.Event, c hook.Context, files []string) error {
	for _, name := range files {
		text, ok := contents(e.Cwd, name)
		if !ok {
			continue // no file: a person, a package, a decorator
		}
		if err := a.read(ctx, s, e, c, name, text); err != nil {
			return err
		}
	}
	if e.Given != "" {
		return a.read(ctx, s, e, c, "command", e.Given)
	}
	return nil
}

// read tells the server of a text that the agent was given without a call.
func (a adapter) read(ctx context.Context, s *server, e *catalogue.Event, c hook.Context, name, text string) error {
	params, err := strictjson.Marshal(map[string]string{"path": name})
	if err != nil {
		return err
	}
	result, err := strictjson.Marshal(text)
	if err != nil {
		return err
	}
	done := &catalogue.Event{Kind: catalogue.Result, Session: e.Session, Tool: "read", Params: params, Result: result}
	return a.returned(ctx, s, done, c)
}

// contents are those of a file as an agent finds it: from the working folder, perhaps with lines or a sign of
// the sentence behind its name; of a folder they are the names in it.
func contents(cwd, name string) (string, bool) {
	bare, _, _ := strings.Cut(name, "#")
	for _, n := range []string{name, bare, strings.TrimRight(bare, ".:!?")} {
		if rest, ok := strings.CutPrefix(n, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				continue
			}
			n = filepath.Join(home, rest)
		}
		if n == "" {
			continue
		}
		if !filepath.IsAbs(n) {
			n = filepath.Join(cmp.Or(cwd, "."), n)
		}
		if text, ok := readHead(n); ok {
			return text, true
		}
	}
	return "", false
}

func readHead(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return "", false
	}
	if info.IsDir() {
		return names(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxMentioned))
	return strings.ToValidUTF8(string(raw), "�"), err == nil
}

// names are those of what lies in a folder.
func names(path string) (string, bool) {
	list, err := os.ReadDir(path)
	if err != nil {
		return "", false
	}
	var out strings.Builder
	for _, e := range list {
		if out.Len() < maxMentioned {
			out.WriteString(e.Name() + "\n")
		}
	}
	return strings.ToValidUTF8(out.String(), "�"), true
}
