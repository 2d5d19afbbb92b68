package shim

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Boxing is the note that an agent's commands may be sent into boxes on this machine. The owner has it made (tidemark install
// --box), after a box was made here and kept its promises, and after this agent was seen to run a command in one. Where there is none
// nothing is sent there.
type Boxing struct {
	Program string    `json:"program"` // tidemark-hook, as a whole path
	Kernel  string    `json:"kernel"`  // on which the box was tried; another one has to be tried again
	Version string    `json:"version"` // of the agent then
	Tried   time.Time `json:"tried,omitzero"`
	// Agent are the processes that the hook was started by when it was tried, up to the one that tried it: the agent's programs, by
	// their files. Another version is other files, and has to be tried again.
	Agent []string `json:"agent,omitzero"`
	// Trial is set while the agent is being tried, and nothing is known of it yet: the one folder in which its commands are sent to boxes.
	Trial string `json:"trial,omitzero"`
	By    int    `json:"by,omitzero"` // the process that tries it
}

// BoxFile is where the note of an agent lies.
func BoxFile(data, agent string) string { return filepath.Join(data, "agents", agent+".box") }

// Kernel is the one that runs here; "": it does not say.
func Kernel() string {
	raw, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// Write makes the note.
func (b Boxing) Write(data, agent string) error {
	raw, err := strictjson.Marshal(b)
	if err != nil {
		return fmt.Errorf("note that %s is boxed: %w", agent, err)
	}
	file := BoxFile(data, agent)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("note that %s is boxed: %w", agent, err)
	}
	if err := errors.Join(Unbox(data, agent), os.WriteFile(file, raw, 0o600)); err != nil { // a new file: its mode is ours
		return fmt.Errorf("note that %s is boxed: %w", agent, err)
	}
	return nil
}

// Unbox takes the note away. That there is none is no fault.
func Unbox(data, agent string) error {
	if err := os.Remove(BoxFile(data, agent)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget that %s is boxed: %w", agent, err)
	}
	return nil
}

// boxing is one command that can be sent into a box.
type boxing struct {
	program, data, line string
	input               map[string]strictjson.Value
}

// noted reads the note of an agent whose contract can do it; "": there is none that holds here, for this agent as it runs now.
func (a adapter) noted(o Options, cwd string) (program string) {
	if a.Rewrite == nil && a.Prefix == nil || !filepath.IsAbs(o.Data) || o.Ancestors == nil {
		return ""
	}
	b, err := ReadBoxing(o.Data, a.Name)
	if err != nil || b.Kernel == "" || b.Kernel != Kernel() || !filepath.IsAbs(b.Program) {
		return ""
	}
	if info, err := os.Stat(b.Program); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if b.Trial != "" {
		seen := o.Ancestors(b.By)
		if filepath.Clean(cwd) != b.Trial || len(seen) == 0 || noteSeen(o.Data, a.Name, seen) != nil {
			return ""
		}
		return b.Program
	}
	if now := o.Ancestors(0); len(b.Agent) == 0 || len(now) < len(b.Agent) || !slices.Equal(now[:len(b.Agent)], b.Agent) {
		return ""
	}
	return b.Program
}

// ReadBoxing reads the note of an agent.
func ReadBoxing(data, agent string) (Boxing, error) {
	var b Boxing
	err := readPrivate(BoxFile(data, agent), 0o077, &b)
	return b, err
}

// seenFile is where the hook of a trial says by which processes it was started.
func seenFile(data, agent string) string { return BoxFile(data, agent) + ".seen" }

func noteSeen(data, agent string, seen []string) error {
	raw, err := strictjson.Marshal(seen)
	if err != nil {
		return err
	}
	return os.WriteFile(seenFile(data, agent), raw, 0o600)
}

// Seen is what the hook of a trial noted, which is then forgotten.
func Seen(data, agent string) []string {
	var out []string
	if readPrivate(seenFile(data, agent), 0o077, &out) != nil {
		out = nil
	}
	_ = os.Remove(seenFile(data, agent)) // it is of no use to anybody
	return out
}

// boxing finds out whether a call can be sent into a box; nil: it cannot, and is judged as one that would run here. What is looked
// at first costs least: most calls are no commands, and most agents have no note.
func (a adapter) boxing(o Options, e *catalogue.Event) *boxing {
	if e.Tool != "exec" || !filepath.IsAbs(e.Cwd) || o.Env == nil || !a.prefixed(o, e) && !a.rewrites(e) {
		return nil
	}
	param := "command"
	if a.Rewrite != nil {
		param = a.Rewrite.Param
	}
	b := &boxing{program: a.noted(o, e.Cwd), data: o.Data}
	if b.program == "" {
		return nil
	}
	if strictjson.Unmarshal(e.Input, &b.input) != nil || !a.lineOf(b.input[param], &b.line) {
		return nil
	}
	// What is judged must be what is run: the server reads Params, the agent has Input.
	var judged struct {
		Command string `json:"command"`
	}
	if strictjson.Unmarshal(e.Params, &judged) != nil || judged.Command != b.line || b.line == "" || strings.ContainsRune(b.line, 0) {
		return nil
	}
	if a.Rewrite != nil && !a.unruled(o, e.Cwd) {
		return nil
	}
	return b
}

// lineOf reads the line that the agent would run: a text, or the one text of a list.
func (a adapter) lineOf(v strictjson.Value, line *string) bool {
	if a.Rewrite == nil || !a.Rewrite.List {
		return strictjson.Unmarshal(v, line) == nil
	}
	var all []string
	if strictjson.Unmarshal(v, &all) != nil || len(all) != 1 {
		return false
	}
	*line = all[0]
	return true
}

// rewrites reports whether the agent takes another line now without anything being lost that it would ask by itself.
func (a adapter) rewrites(e *catalogue.Event) bool {
	return a.Prefix == nil && a.Rewrite != nil && slices.Contains(a.Rewrite.Modes, e.Mode)
}

// prefixed reports whether the agent starts this command with our program, as it is told now: whatever its settings, those of a project
// or a flag say, it takes the variable from its own environment, which this process has from it.
func (a adapter) prefixed(o Options, e *catalogue.Event) bool {
	return a.Prefix != nil && e.Tool == "exec" && e.Named == a.Prefix.Tool && o.Env != nil && filepath.IsAbs(o.Data) &&
		o.Env(a.Prefix.Variable) == catalogue.PrefixProgram(o.Data, a.Name)
}

// unprefixed says why a command may not run: boxes are switched on, and a file of the project has the agent start its commands with
// something else, or with nothing.
func (a adapter) unprefixed(o Options, e *catalogue.Event) string {
	if a.Prefix == nil || len(a.Prefix.Setting) == 0 || e.Tool != "exec" || e.Named != a.Prefix.Tool || a.prefixed(o, e) {
		return ""
	}
	if b, err := ReadBoxing(o.Data, a.Name); err != nil || b.Trial != "" {
		return ""
	}
	for _, path := range a.around(o, e) {
		d, err := settings.Reader{}.Open(path)
		if err != nil || d.Find(a.Prefix.Setting...) == nil || a.recorded(o, path) {
			continue // what cannot be read is said by the switches
		}
		return fmt.Sprintf("Tidemark: %s sets %s, past the boxes that are switched on for this agent; "+
			"no command runs in this folder until it is taken out", path, strings.Join(a.Prefix.Setting, "."))
	}
	return ""
}

// pass leaves word for the program that starts the command: it runs as was decided, or not at all. The agent's own rules and questions
// come after this, about the model's line.
func (a adapter) pass(o Options, e *catalogue.Event, v verdict) (verdict, error) {
	var input struct {
		Command string `json:"command"`
	}
	if err := strictjson.Unmarshal(e.Input, &input); err != nil {
		return v, nil //nolint:nilerr // nothing is left for it, so that it does not run
	}
	p := Pass{Root: e.Cwd}
	if filepath.IsAbs(o.Root) {
		p.Root = o.Root
	}
	switch {
	case v.ticket != "" && isTicket(v.ticket):
		p.Ticket, v = v.ticket, verdict{notice: v.notice}
	case v.reason != "" && v.asks == "":
		return v, revoke(o.Data, a.Name, a.key(e.Session), input.Command)
	}
	return v, p.leave(o.Data, a.Name, a.key(e.Session), input.Command)
}

// run is the agent's own form of running the command in its box; nil: nothing may run.
func (b *boxing) run(a adapter, e *catalogue.Event, ticket string) []byte {
	if b == nil || !isTicket(ticket) {
		return nil
	}
	var put any = Boxed(b.program, b.data, ticket, b.line)
	if a.Rewrite.List {
		put = []any{put}
	}
	line, err := strictjson.Marshal(put)
	if err != nil {
		return nil
	}
	b.input[a.Rewrite.Param] = line
	input, err := strictjson.Marshal(b.input)
	if err != nil {
		return nil
	}
	return a.Rewrite.Reply(e, input)
}

// Boxed is a command line that has another one run in a box, for the shell that would have read that one.
func Boxed(program, data, ticket, line string) string {
	return settings.Join([]string{program, "box", "--data", data, ticket, "--", line})
}

// isTicket reports whether a text is one of the server's tickets, and so nothing that a shell or a flag could make more of.
func isTicket(s string) bool { return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == "" }

// Unboxed finds the command that a line has run in a box of this data folder; not where the line is of any other form, or has it run by
// another program than an agent's note names.
func Unboxed(data string) func(line string) (command string, ok bool) {
	return func(line string) (string, bool) {
		argv := settings.Split(line)
		if len(argv) != 7 || !isTicket(argv[4]) || Boxed(argv[0], argv[3], argv[4], argv[6]) != line || !sameFolder(argv[3], data) {
			return "", false
		}
		notes, err := filepath.Glob(filepath.Join(data, "agents", "*.box"))
		if err != nil {
			return "", false
		}
		for _, note := range notes {
			b, err := ReadBoxing(data, strings.TrimSuffix(filepath.Base(note), ".box"))
			if err == nil && b.Program == argv[0] {
				return argv[6], true
			}
		}
		return "", false
	}
}

// sameFolder reports whether two names are of one folder.
func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// unboxed gives a result the command that was asked for, where the agent reports the one that we put in its place: it is the result
// of that call. A line of this form runs nothing outside a box, whoever wrote it.
func (a adapter) unboxed(o Options, e *catalogue.Event) {
	if a.Rewrite == nil || e.Tool != "exec" {
		return
	}
	var fields map[string]strictjson.Value
	var line string
	if strictjson.Unmarshal(e.Params, &fields) != nil || strictjson.Unmarshal(fields["command"], &line) != nil {
		return
	}
	argv := settings.Split(line)
	if len(argv) != 7 || !isTicket(argv[4]) || argv[0] != a.noted(o, e.Cwd) || Boxed(argv[0], o.Data, argv[4], argv[6]) != line {
		return
	}
	raw, err := strictjson.Marshal(argv[6])
	if err != nil {
		return
	}
	fields["command"] = raw
	if params, err := strictjson.Marshal(fields); err == nil {
		e.Params = params
	}
}

// unruled reports whether nothing that the agent was started with, and no rule about commands, of the user's, a project's or the
// administrator's, would be compared with the line that we put in: it would no longer refuse what it is there to refuse. What cannot
// be read counts as a rule.
func (a adapter) unruled(o Options, cwd string) bool {
	if flags := a.Rewrite.Flags; flags != nil && (o.Words == nil || !flags(o.Words())) {
		return false
	}
	r := a.Rewrite.Rules
	if slices.ContainsFunc(r.Unset, func(name string) bool { return o.Env(name) != "" }) {
		return false
	}
	if r.Allows == nil { // the agent compares them with the model's line, or has none
		return true
	}
	for _, path := range r.Managed {
		if _, err := os.Lstat(filepath.Join(o.Etc, path)); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	folders, files := []string{at(o, r.Home)}, []string{at(o, r.Config)}
	for _, name := range r.Files {
		files = append(files, filepath.Join(o.Env("HOME"), filepath.FromSlash(name)))
	}
	for _, p := range r.More {
		folders = append(folders, at(o, p))
	}
	if !filepath.IsAbs(folders[0]) || !filepath.IsAbs(files[0]) { // the agent may look elsewhere
		return false
	}
	for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
		folders = append(folders, filepath.Join(dir, filepath.FromSlash(r.Project)))
		for _, name := range append([]string{r.Within}, r.Files...) {
			files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if r.Home == (catalogue.Place{}) {
		folders = nil
	}
	for _, folder := range folders {
		found, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		for _, f := range found {
			if !fits(filepath.Join(folder, f.Name()), r.Allows) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(files, func(file string) bool { return !fits(file, r.Plain) })
}

// at is a place of the user's.
func at(o Options, p catalogue.Place) string {
	folder := ""
	if p.Variable != "" {
		folder = o.Env(p.Variable)
	}
	if folder == "" {
		folder = filepath.Join(o.Env("HOME"), filepath.FromSlash(p.Home))
	}
	return filepath.Join(folder, p.File)
}

// maxRules bounds what is read of a file of rules or settings.
const maxRules = 1 << 20

// fits reports whether a file is not there, or all of its text is fine.
func fits(path string, fine func(string) bool) bool {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxRules+1))
	return errors.Join(err, f.Close()) == nil && len(raw) <= maxRules && fine(string(raw))
}
