package policy

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// The bounds on a task's rules. A model wrote them: what is larger is not a plan.
const (
	maxTask       = 64 << 10
	maxTaskTools  = 128
	maxTaskArgs   = 32
	maxTaskValues = 64
	maxTaskText   = 512
)

// Task is what one task needs: the tools it may use and what their arguments must be.
// It is drawn up before anything untrusted was read, and can only narrow: it has no way
// to say that a call may run. It never changes and is safe for concurrent use. The zero
// Task needs no tool at all.
type Task struct {
	tools map[string]taskTool
	names []string // sorted
}

// TaskRule is what a Task says about one tool, for people.
type TaskRule struct {
	Tool        string   `json:"tool"`
	Why         string   `json:"why,omitempty"`
	Constraints []string `json:"constraints,omitempty"`
}

type taskTool struct {
	why    string
	limits []taskLimit // by argument
}

// The written form. A key that is null counts as not given.
type (
	taskForm struct {
		Tools *[]taskToolForm `json:"tools"`
	}
	taskToolForm struct {
		Name string                 `json:"name"`
		Why  string                 `json:"why"`
		Args map[string]taskArgForm `json:"args"`
	}
	taskArgForm struct {
		OneOf    []any    `json:"oneOf"`
		Prefix   *string  `json:"prefix"`
		Contains *string  `json:"contains"`
		Host     *string  `json:"host"`
		Max      *float64 `json:"max"`
		Min      *float64 `json:"min"`
	}
)

// ParseTask reads the rules of a task as a model proposed them: one JSON object, which may
// stand in one ```json fence. An error says what is wrong and where; then there is no Task.
func ParseTask(src []byte) (*Task, error) {
	t, err := parseTask(src)
	if err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	return t, nil
}

func parseTask(src []byte) (*Task, error) {
	if len(src) > maxTask {
		return nil, fmt.Errorf("%d bytes, at most %d are read", len(src), maxTask)
	}
	var form taskForm
	if err := strictjson.UnmarshalKnown(unfence(src), &form); err != nil {
		return nil, err
	}
	if form.Tools == nil {
		return nil, errors.New("tools is missing")
	}
	if n := len(*form.Tools); n > maxTaskTools {
		return nil, fmt.Errorf("tools lists %d, at most %d may be", n, maxTaskTools)
	}
	t := &Task{tools: make(map[string]taskTool, len(*form.Tools))}
	for i, f := range *form.Tools {
		if err := t.add(f); err != nil {
			return nil, fmt.Errorf("tools[%d]%w", i, err)
		}
	}
	t.names = slices.Sorted(maps.Keys(t.tools))
	return t, nil
}

// unfence takes away the one fence that models put around JSON.
func unfence(src []byte) []byte {
	rest, opened := bytes.CutPrefix(bytes.TrimSpace(src), []byte("```json"))
	body, closed := bytes.CutSuffix(rest, []byte("```"))
	if !opened || !closed || len(body) == 0 || body[0] != '\n' && body[0] != '\r' {
		return src
	}
	return body
}

// add compiles the rules of one tool. Its errors go on where "tools[i]" ends.
func (t *Task) add(f taskToolForm) error {
	name := tool.Name(f.Name)
	if err := checkTaskName(name); err != nil {
		return fmt.Errorf(".name: %w", err)
	}
	if _, twice := t.tools[name]; twice {
		return fmt.Errorf(".name: %s is listed twice", name)
	}
	if err := checkTaskText(f.Why); err != nil {
		return fmt.Errorf(".why: %w", err)
	}
	if len(f.Args) > maxTaskArgs {
		return fmt.Errorf(".args: %d are limited, at most %d may be", len(f.Args), maxTaskArgs)
	}
	out := taskTool{why: oneLine(f.Why)}
	seen := make(map[string]string, len(f.Args))
	for _, arg := range slices.Sorted(maps.Keys(f.Args)) {
		limit, err := newTaskLimit(arg, f.Args[arg])
		if err != nil {
			return fmt.Errorf(".args[%q]%w", short(arg), err)
		}
		if first, twice := seen[limit.key]; twice {
			return fmt.Errorf(".args[%q]: the same argument as %q", arg, first)
		}
		seen[limit.key] = arg
		out.limits = append(out.limits, limit)
	}
	t.tools[name] = out
	return nil
}

// checkTaskName refuses names that would not be read as they are: they end up in rules.
func checkTaskName(name string) error {
	if name == "" {
		return errors.New("the name is empty")
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("the name %q holds a character that cannot be seen", short(name))
	}
	return checkTaskText(name)
}

func checkTaskText(s string) error {
	if n := utf8.RuneCountInString(s); n > maxTaskText {
		return fmt.Errorf("%d characters, at most %d may be", n, maxTaskText)
	}
	return nil
}

// oneLine keeps what can be seen, on one line.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }), " ")
}

// Judge says why a call is outside the task; false when it is inside, which allows
// nothing by itself. With nil Args only the list of tools counts. The effect is Confirm
// or Deny; whatever else it is, Deny is meant. The text repeats part of an argument, so
// it is to be redacted like one.
func (t *Task) Judge(in *Input, effect Effect) (Reason, bool) {
	if effect != Confirm {
		effect = Deny
	}
	name := tool.Name(in.Tool)
	listed, ok := t.tools[name]
	if !ok {
		return Reason{Rule: "task.unlisted", Effect: effect, Text: t.unlistedText(name)}, true
	}
	if in.Args == nil {
		return Reason{}, false
	}
	if err := in.Args.Check(); err != nil {
		text := "the arguments cannot be held against the task: " + short(plainMessage(err.Error()))
		return Reason{Rule: "task." + name + ".*", Effect: effect, Text: text, Error: true}, true
	}
	if len(listed.limits) == 0 {
		return Reason{}, false
	}
	given := taskArgs(in.Args)
	for _, l := range listed.limits {
		if c, got := l.broken(given[l.key]); c != nil {
			text := fmt.Sprintf("for this task %s needs %s; got %s", name, short(c.words), got)
			return Reason{Rule: "task." + name + "." + l.arg, Effect: effect, Text: text}, true
		}
	}
	return Reason{}, false
}

// taskArgs are a call's arguments by key. A list stands for its elements; one that
// holds nothing is as good as missing.
func taskArgs(a *tool.Args) map[string][]any {
	fields, _ := a.Fields() // Check has passed it
	out := make(map[string][]any, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		key := argKey(name)
		if list, ok := fields[name].([]any); ok {
			out[key] = append(out[key], list...)
		} else {
			out[key] = append(out[key], fields[name])
		}
	}
	return out
}

// argKey maps the spellings of an argument that a host may take for one another to one.
func argKey(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(strings.ToUpper(name)))
}

func (t *Task) unlistedText(name string) string {
	needs := "it needs no tool"
	if len(t.names) > 0 {
		needs = "it needs only " + strings.Join(t.names, ", ")
	}
	return "the task does not need " + short(name) + ": " + short(needs)
}

// Tools are the tools the task needs, sorted.
func (t *Task) Tools() []string { return slices.Clone(t.names) }

// Rules are what the task says, sorted by tool and argument.
func (t *Task) Rules() []TaskRule {
	out := make([]TaskRule, 0, len(t.names))
	for _, name := range t.names {
		r := TaskRule{Tool: name, Why: t.tools[name].why}
		for _, l := range t.tools[name].limits {
			for _, c := range l.checks {
				r.Constraints = append(r.Constraints, c.words)
			}
		}
		out = append(out, r)
	}
	return out
}
