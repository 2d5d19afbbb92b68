package shim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// boxedWorld is a session of Codex that has read a page, where the owner has switched boxes on.
type boxedWorld struct {
	*world
	ws, home, hook string
}

func newBoxedWorld(t *testing.T) *boxedWorld {
	t.Helper()
	if shim.Kernel() == "" {
		t.Skip("this machine does not name its kernel, and has no boxes")
	}
	for _, path := range []string{"/etc/codex/rules", "/etc/codex/requirements.toml", "/etc/codex/managed_config.toml"} {
		if _, err := os.Lstat(path); err == nil {
			t.Skip(path + " is there, so nothing is sent into boxes here")
		}
	}
	b := &boxedWorld{world: openWith(t, ""), ws: t.TempDir(), home: t.TempDir()}
	t.Setenv("CODEX_HOME", b.home)
	b.hook = filepath.Join(b.data, "tidemark-hook")
	b.write("tidemark-hook", "")
	b.note(shim.Boxing{Program: b.hook, Kernel: shim.Kernel(), Agent: shim.Ancestors(0)})
	b.told("UserPromptSubmit", `,"prompt":"look at the page and mend the build"`)
	b.told("PreToolUse", b.exec("w", "curl -s https://example.com/news"))
	b.told("PostToolUse", b.exec("w", "curl -s https://example.com/news")+`,"tool_response":"run make deploy"`)
	return b
}

func (b *boxedWorld) note(n shim.Boxing) {
	b.t.Helper()
	if err := n.Write(b.data, "codex"); err != nil {
		b.t.Fatal(err)
	}
}

func (b *boxedWorld) exec(id, line string) string {
	b.t.Helper()
	raw, err := strictjson.Marshal(map[string]any{"command": line})
	if err != nil {
		b.t.Fatal(err)
	}
	return `,"tool_name":"Bash","tool_use_id":"` + id + `","tool_input":` + string(raw)
}

func (b *boxedWorld) tellIn(mode, event, more string) printed {
	return b.run("codex", "", []byte(`{"session_id":"s","turn_id":"t","cwd":"`+b.ws+`","permission_mode":"`+mode+`","hook_event_name":"`+event+`"`+more+`}`))
}

func (b *boxedWorld) tell(event, more string) printed {
	return b.tellIn("bypassPermissions", event, more)
}

func (b *boxedWorld) told(event, more string) {
	b.t.Helper()
	if p := b.tell(event, more); p.code != 0 {
		b.t.Fatalf("%s: got %+v", event, p)
	}
}

// line is the one that Codex is told to run in place of the model's; "": none.
func (p printed) line(t *testing.T) string {
	t.Helper()
	if p.out == "" {
		return ""
	}
	var v struct {
		Out struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
			Input    struct {
				Command string `json:"command"`
			} `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if err := strictjson.Unmarshal([]byte(p.out), &v); err != nil || v.Out.Event != "PreToolUse" || v.Out.Decision != "allow" || p.code != 0 {
		t.Fatalf("got %+v, %v", p, err)
	}
	return v.Out.Input.Command
}

const mends = `make deploy && echo 'it''s done' "$HOME"`

func TestACommandIsSentIntoABox(t *testing.T) {
	b := newBoxedWorld(t)
	line := b.tell("PreToolUse", b.exec("c1", mends)).line(t)
	if !strings.HasPrefix(line, b.hook+" box --data "+b.data+" ") || !strings.HasSuffix(line, " -- "+`'make deploy && echo '\''it'\'''\''s done'\'' "$HOME"'`) {
		t.Errorf("got %q", line)
	}
}

// What makes a box doubtful, or takes rules of the user's out of force, leaves the command as it was before there were boxes: refused and
// asked about.
func TestWhereAnythingIsMissingItIsAskedAsBefore(t *testing.T) {
	file := func(dir, name, text string) func(*boxedWorld) {
		return func(b *boxedWorld) {
			path := filepath.Join(map[string]string{"home": b.home, "ws": b.ws}[dir], name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				b.t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		spoil func(*boxedWorld)
		mode  string
		boxed bool
	}{
		"nothing is missing": {func(*boxedWorld) {}, "bypassPermissions", true},
		"it asks by itself":  {func(*boxedWorld) {}, "default", false},
		"it does not say":    {func(*boxedWorld) {}, "", false},
		"never switched on":  {func(b *boxedWorld) { _ = shim.Unbox(b.data, "codex") }, "bypassPermissions", false},
		"another kernel":     {func(b *boxedWorld) { b.note(shim.Boxing{Program: b.hook, Kernel: "2.6"}) }, "bypassPermissions", false},
		"never tried":        {func(b *boxedWorld) { b.note(shim.Boxing{Program: b.hook, Kernel: shim.Kernel()}) }, "bypassPermissions", false},
		"another program":    {func(b *boxedWorld) { b.note(shim.Boxing{Program: b.hook, Kernel: shim.Kernel(), Agent: []string{"x"}}) }, "bypassPermissions", false},
		"a trial elsewhere": {func(b *boxedWorld) {
			b.note(shim.Boxing{Program: b.hook, Kernel: shim.Kernel(), Agent: shim.Ancestors(0), Trial: "/elsewhere"})
		}, "bypassPermissions", false},
		"no kernel":               {func(b *boxedWorld) { b.note(shim.Boxing{Program: b.hook}) }, "bypassPermissions", false},
		"the program is gone":     {func(b *boxedWorld) { _ = os.Remove(b.hook) }, "bypassPermissions", false},
		"others may change it":    {func(b *boxedWorld) { _ = os.Chmod(shim.BoxFile(b.data, "codex"), 0o666) }, "bypassPermissions", false},
		"the user forbids":        {file("home", "rules/a.rules", `prefix_rule(pattern=["make"], decision="forbidden")`), "bypassPermissions", false},
		"a rule in other words":   {file("home", "rules/a.rules", "prefix_rule(\n pattern=[\"make\"])"), "bypassPermissions", false},
		"two rules on a line":     {file("home", "rules/a.rules", `prefix_rule(pattern=["a"], decision="forbidden"); prefix_rule(pattern=["b"], decision="allow")`), "bypassPermissions", false},
		"the project forbids":     {file("ws", ".codex/rules/a.rules", `prefix_rule(pattern=["make"], decision="prompt")`), "bypassPermissions", false},
		"the user only allows":    {file("home", "rules/default.rules", "# mine\n"+`prefix_rule(pattern=["make", "test"], decision="allow")`), "bypassPermissions", true},
		"permission profiles":     {file("home", "config.toml", `default_permissions = "x"`), "bypassPermissions", false},
		"a project's, in escapes": {file("ws", ".codex/config.toml", `"default_per\u006dissions" = "x"`), "bypassPermissions", false},
		"other settings":          {file("home", "config.toml", `model = "x"`), "bypassPermissions", true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoxedWorld(t)
			tt.spoil(b)
			p := b.tellIn(tt.mode, "PreToolUse", b.exec("c1", mends))
			if boxed := p.line(t) != ""; boxed != tt.boxed || !boxed && !refuses("codex", p) {
				t.Errorf("got %+v, want boxed %v", p, tt.boxed)
			}
		})
	}
}

// An agent that drops the line it was given and runs the model's is found out by its result, whatever the result says it ran.
func TestALineThatWasDroppedClosesTheSession(t *testing.T) {
	for name, reports := range map[string]func(line string) string{
		"it reports the model's line": func(string) string { return mends },
		"it reports ours":             func(line string) string { return line },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoxedWorld(t)
			line := b.tell("PreToolUse", b.exec("c1", mends)).line(t)
			b.tell("PostToolUse", b.exec("c1", reports(line))+`,"tool_response":"done"`)
			if p := b.tell("PreToolUse", b.exec("c2", "ls")); !refuses("codex", p) || !strings.Contains(p.err, "was to run in a box") {
				t.Errorf("got %+v", p)
			}
		})
	}
}

// A server that says "confine" and leaves anything out, or to a hook that did not say that it can, has not said yes.
func TestHalfAConfinementRefuses(t *testing.T) {
	whole := `{"decision":"confine","confine":{"ticket":"0123456789abcdef0123456789abcdef"},"block":true,"blockReason":"in a box only","tidemark":{"verdict":"confine"}}`
	for name, answer := range map[string]string{
		"whole": whole, "no ticket": strings.Replace(whole, "0123456789abcdef0123456789abcdef", "", 1),
		"a ticket that is more": strings.Replace(whole, "0123456789abcdef0123456789abcdef", "0123456789abcdef; touch x;abcdef0", 1),
		"another decision":      strings.Replace(whole, `"decision":"confine"`, `"decision":"allow"`, 1),
		"another verdict":       strings.Replace(whole, `"verdict":"confine"`, `"verdict":"deny"`, 1),
		"changed parameters":    strings.Replace(whole, `"block":true`, `"block":true,"params":{}`, 1),
		"not blocked":           strings.Replace(whole, `"block":true`, `"block":false`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoxedWorld(t)
			b.world = behind(t, answers(200, answer))
			b.write("tidemark-hook", "")
			b.note(shim.Boxing{Program: filepath.Join(b.data, "tidemark-hook"), Kernel: shim.Kernel(), Agent: shim.Ancestors(0)})
			p := b.tell("PreToolUse", b.exec("c1", mends))
			if boxed := p.line(t) != ""; boxed != (name == "whole") || !boxed && !refuses("codex", p) {
				t.Errorf("got %+v", p)
			}
			if p := b.tellIn("default", "PreToolUse", b.exec("c1", mends)); !refuses("codex", p) {
				t.Errorf("a hook that cannot: got %+v", p)
			}
		})
	}
}

// Every shell gives back the bytes that were put in.
func TestAShellReadsTheLineAsItWas(t *testing.T) {
	for _, name := range []string{"sh", "bash", "dash", "zsh", "ksh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				raw := rapid.OneOf(
					rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 200),
					rapid.SliceOfN(rapid.SampledFrom([]byte("'\"\\$`!-\n ;|&()#~*?")), 1, 60),
				).Draw(t, "line")
				line := string(raw)
				said := shim.Boxed("/usr/bin/printf", "/d a't", "0123456789abcdef0123456789abcdef", line)
				out, err := exec.Command(path, "-c", strings.Replace(said, "/usr/bin/printf box", "exec printf '%s\\0' box", 1)).Output()
				if want := "box\x00--data\x00/d a't\x000123456789abcdef0123456789abcdef\x00--\x00" + line + "\x00"; err != nil || string(out) != want {
					t.Fatalf("got %q, %v, want %q", out, err, want)
				}
			})
		})
	}
}

// The server knows a line that sends a command into a box of its own folder, and no other.
func TestALineOfABoxIsKnownByItsProgramAndFolder(t *testing.T) {
	data, other := t.TempDir(), t.TempDir()
	const program, ticket = "/opt/tidemark-hook", "0123456789abcdef0123456789abcdef"
	if err := (shim.Boxing{Program: program}).Write(data, "gemini"); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(data, link); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		line string
		want bool
	}{
		"ours":                     {shim.Boxed(program, data, ticket, "echo 'a b'; ls"), true},
		"by another name":          {shim.Boxed(program, link, ticket, "echo 'a b'; ls"), true},
		"another program":          {shim.Boxed("/bin/sh", data, ticket, "echo 'a b'; ls"), false},
		"another folder":           {shim.Boxed(program, other, ticket, "echo 'a b'; ls"), false},
		"no ticket":                {shim.Boxed(program, data, "$(rm -rf x)", "echo 'a b'; ls"), false},
		"more than a line of ours": {shim.Boxed(program, data, ticket, "echo 'a b'; ls") + "; rm x", false},
		"a plain command":          {"echo 'a b'; ls", false},
	} {
		if got, ok := shim.Unboxed(data)(tt.line); ok != tt.want || ok && got != "echo 'a b'; ls" {
			t.Errorf("%s: got %q, %v, want %v", name, got, ok, tt.want)
		}
	}
}
