package shim_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/agents/shim"
)

// rewriter is an agent in its own words: what its hook is given, and the start of what it obeys.
type rewriter struct {
	before  string // of a command; %s: id, folder, line
	after   string // of its result
	obeys   string // how the reply begins
	words   []string
	rules   map[string]string // files, below the home or the folder, that keep lines as they are
	fine    map[string]string // that do not
	unset   string            // a variable that keeps them as they are
	several string            // a call of it that is not one line
	flags   [][]string        // other words that it may be started with, with which lines stay as they are
}

var rewriters = map[string]rewriter{
	"droid": {
		before: `{"session_id":"s","cwd":%[2]q,"permission_mode":"auto-low","hook_event_name":"PreToolUse","tool_name":"Execute","tool_use_id":%[1]q,"tool_input":{"command":%[3]q,"summary":"Do it","riskLevel":"low","riskLevelReason":"x"}}`,
		after:  `{"session_id":"s","cwd":%[2]q,"permission_mode":"auto-low","hook_event_name":"PostToolUse","tool_name":"Execute","tool_use_id":%[1]q,"tool_input":{"command":%[3]q},"tool_response":"done"}`,
		obeys:  `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"`, words: []string{"droid", "exec", "--skip-permissions-unsafe", "go on"},
		rules: map[string]string{
			"home/.factory/settings.json": `{"commandDenylist":["touch"]}`, "home/.factory/settings.local.json": `{"commandBlocklist":["touch"]}`, "work/.factory/settings.json": `{"sandbox":{"enabled":true}}`,
			"work/.factory/settings.local.json": `{"command\u0044enylist":["touch"]}`,
		},
		fine:  map[string]string{"home/.factory/settings.json": `{"commandAllowlist":["ls"],"model":"x"}`},
		flags: [][]string{{"droid", "exec", "go on"}, {"droid", "exec", "--skip-permissions-unsafe", "--settings", "x.json"}, {"droid", "exec", "--auto", "high"}},
	},
	"cline": {
		before: `{"hookName":"tool_call","taskId":"s","workspaceRoots":[%[2]q],"tool_call":{"id":%[1]q,"name":"run_commands","input":{"commands":[%[3]q]}}}`,
		after:  `{"hookName":"tool_result","taskId":"s","workspaceRoots":[%[2]q],"tool_result":{"id":%[1]q,"name":"run_commands","input":{"commands":[%[3]q]},"output":"done"}}`,
		obeys:  `{"overrideInput":{"commands":["`, unset: "CLINE_COMMAND_PERMISSIONS",
		several: `{"hookName":"tool_call","taskId":"s","workspaceRoots":[%[2]q],"tool_call":{"id":%[1]q,"name":"run_commands","input":{"commands":[%[3]q,"ls"]}}}`,
	},
	"cursor": {
		before: `{"conversation_id":"s","generation_id":"g","cwd":%[2]q,"hook_event_name":"preToolUse","tool_name":"Shell","tool_use_id":%[1]q,"tool_input":{"command":%[3]q}}`,
		after:  `{"conversation_id":"s","generation_id":"g","cwd":%[2]q,"hook_event_name":"postToolUse","tool_name":"Shell","tool_use_id":%[1]q,"tool_input":{"command":%[3]q},"tool_output":"done"}`,
		obeys:  `{"permission":"allow","updated_input":{"command":"`,
		rules:  map[string]string{"home/.cursor/cli-config.json": `{"permissions":{"deny":["Shell(touch)"]}}`, "work/.cursor/cli.json": `{"permissions":{"deny":["Shell(touch)"]}}`, "home/.cursor/sandbox.json": `{"sandbox":{}}`},
		fine:   map[string]string{"home/.cursor/cli-config.json": `{"permissions":{"allow":["Shell(ls)"]}}`},
	},
}

// scene is such an agent after it has read a page, where the owner has switched boxes on.
type scene struct {
	*world
	rewriter
	name, top string
	words     []string
	env       map[string]string
}

func newScene(t *testing.T, name string) *scene {
	t.Helper()
	if shim.Kernel() == "" {
		t.Skip("this machine does not name its kernel, and has no boxes")
	}
	r := rewriters[name]
	s := &scene{world: openWith(t, ""), rewriter: r, name: name, top: t.TempDir(), words: r.words, env: map[string]string{}}
	s.env["HOME"] = filepath.Join(s.top, "home")
	s.write("tidemark-hook", "")
	note := shim.Boxing{Program: filepath.Join(s.data, "tidemark-hook"), Kernel: shim.Kernel(), Agent: []string{"the agent"}}
	if err := note.Write(s.data, name); err != nil {
		t.Fatal(err)
	}
	s.put("work/notes.txt", "x")
	s.say(r.before, "w", "curl -s https://example.com/news")
	s.say(r.after, "w", "curl -s https://example.com/news")
	return s
}

func (s *scene) put(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.top, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) say(form, id, line string) printed {
	s.t.Helper()
	var out, errOut bytes.Buffer
	code := shim.Run(s.t.Context(), shim.Options{
		Agent: s.name, Data: s.data, Sender: "owner", In: strings.NewReader(fmt.Sprintf(form, id, filepath.Join(s.top, "work"), line)), Etc: filepath.Join(s.top, "etc"), Timeout: 20 * time.Second,
		Env: func(name string) string { return s.env[name] }, Ancestors: func(int) []string { return []string{"the agent"} }, Words: func() []string { return s.words },
	}).Write(&out, &errOut)
	return printed{code, out.String(), errOut.String()}
}

const building = "make all; ./build.sh"

// boxed reports whether the command was sent to a box; one that was not must have been refused.
func (s *scene) boxed(form string) bool {
	s.t.Helper()
	p := s.say(form, "c1", building)
	ours := s.obeys + filepath.Join(s.data, "tidemark-hook") + " box --data " + s.data + " "
	if strings.HasPrefix(p.out, ours) && strings.Contains(p.out, " -- '"+building+"'") && p.code == 0 {
		return true
	}
	if !refuses(s.name, p) {
		s.t.Errorf("neither boxed nor refused: %+v", p)
	}
	return false
}

// Droid, Cline and Cursor are told of the box in their own words, and not where a rule of their people's would be compared with the line
// that is put in. Cursor's reply is by its contract: it was not run with the real program.
func TestOtherAgentsAreToldOfTheBox(t *testing.T) {
	for name, r := range rewriters {
		t.Run(name, func(t *testing.T) {
			if !newScene(t, name).boxed(r.before) {
				t.Error("nothing is missing, and it is not boxed")
			}
			for file, text := range r.fine {
				s := newScene(t, name)
				s.put(file, text)
				if !s.boxed(r.before) {
					t.Errorf("%s with %s: it is not boxed", file, text)
				}
			}
			for file, text := range r.rules {
				s := newScene(t, name)
				s.put(file, text)
				if s.boxed(r.before) {
					t.Errorf("%s with %s: it is boxed", file, text)
				}
			}
			for _, words := range r.flags {
				s := newScene(t, name)
				s.words = words
				if s.boxed(r.before) {
					t.Errorf("started with %q: it is boxed", words)
				}
			}
			if r.unset != "" {
				s := newScene(t, name)
				s.env[r.unset] = "{}"
				if s.boxed(r.before) {
					t.Errorf("%s is set, and it is boxed", r.unset)
				}
			}
			if r.several != "" && newScene(t, name).boxed(r.several) {
				t.Error("several lines are boxed as one")
			}
		})
	}
}

// An agent that drops the line closes its session, whichever line it reports; one that has not reported yet does not.
func TestOtherAgentsThatDropTheLine(t *testing.T) {
	for name, r := range rewriters {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, name)
			if !s.boxed(r.before) {
				t.Fatal("it is not boxed")
			}
			if p := s.say(r.before, "c2", "cat notes.txt"); strings.Contains(p.err+p.out, "was to run in a box") {
				t.Errorf("before any result the session is closed: %+v", p)
			}
			s.say(r.after, "c1", building)
			if p := s.say(r.before, "c3", "ls"); !refuses(name, p) || !strings.Contains(p.err+p.out, "was to run in a box") {
				t.Errorf("it ran outside, and the next call is answered with %+v", p)
			}
		})
	}
}
