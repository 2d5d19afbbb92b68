package settings

import (
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Handler is a hook in the forms that agents write it.
type Handler struct {
	Name      string   `json:"name,omitzero"`
	Type      string   `json:"type,omitzero"`
	Command   string   `json:"command,omitzero"`
	Exec      string   `json:"exec,omitzero"`
	Args      []string `json:"args,omitzero"`
	Timeout   int      `json:"timeout,omitzero"`
	Limit     int      `json:"timeoutSec,omitzero"`
	OnFailure string   `json:"onFailure,omitzero"`
	OnFail    string   `json:"on_failure,omitzero"`
	Closed    bool     `json:"failClosed,omitzero"`
	Show      bool     `json:"show_output,omitzero"`
	Status    string   `json:"statusMessage,omitzero"`
}

// Group is a matcher and its hooks.
type Group struct {
	Matcher string    `json:"matcher,omitzero"`
	Hooks   []Handler `json:"hooks"`
}

// Argv is the program and its arguments; nil where the command would need a shell to say.
func (h Handler) Argv() []string {
	switch {
	case h.Exec != "":
		return append([]string{h.Exec}, h.Args...)
	case len(h.Args) > 0:
		return append([]string{h.Command}, h.Args...)
	}
	return Split(h.Command)
}

// Handlers are the hooks of one element of a list: a group's, a rule's action, or itself.
func Handlers(raw strictjson.Value) []Handler {
	if raw.Kind() != '{' {
		return nil
	}
	var shape struct {
		Hooks   []Handler `json:"hooks"`
		Action  *Handler  `json:"action"`
		Timeout int       `json:"timeout"`
	}
	if strictjson.Unmarshal(raw, &shape) != nil {
		return nil
	}
	if shape.Action != nil {
		shape.Action.Timeout = shape.Timeout
		shape.Hooks = append(shape.Hooks, *shape.Action)
	}
	if len(shape.Hooks) > 0 {
		return shape.Hooks
	}
	var h Handler
	if strictjson.Unmarshal(raw, &h) != nil {
		return nil
	}
	return []Handler{h}
}

// Ours reports whether an element starts nothing but one of these hook programs. One that
// somebody added a hook of their own to is not ours alone, and a command that a shell would
// have to read is never ours: what it starts cannot be told from its words.
func Ours(raw strictjson.Value, programs ...string) bool {
	hooks := Handlers(raw)
	for _, h := range hooks {
		if argv := h.Argv(); len(argv) == 0 || argv[0] == "" || !slices.Contains(programs, argv[0]) {
			return false
		}
	}
	return len(hooks) > 0
}

// LooksLikeOurs reports whether an element bears the name of the hook program anywhere. It
// is good for words to a person, never for deciding what to remove or to start.
func LooksLikeOurs(raw strictjson.Value) bool { return strings.Contains(string(raw), HookName) }

// plain are the characters that no shell gives a meaning to.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-"

// Join writes a command for agents that hand it to a shell.
func Join(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = Word(w)
	}
	return strings.Join(words, " ")
}

// Word is one word as a shell reads it back.
func Word(s string) string {
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Split reads what Join writes. Whatever else a shell might understand gives nil.
func Split(line string) []string {
	var out []string
	for rest := line; rest != ""; {
		var b strings.Builder
		for rest != "" && rest[0] != ' ' {
			switch {
			case rest[0] == '\'':
				text, after, ok := strings.Cut(rest[1:], "'")
				if !ok {
					return nil
				}
				b.WriteString(text)
				rest = after
			case strings.HasPrefix(rest, `\'`):
				b.WriteByte('\'')
				rest = rest[2:]
			case strings.IndexByte(plain, rest[0]) >= 0:
				b.WriteByte(rest[0])
				rest = rest[1:]
			default:
				return nil
			}
		}
		out = append(out, b.String())
		rest = strings.TrimPrefix(rest, " ")
	}
	if Join(out) != line { // written in another way, so by somebody else
		return nil
	}
	return out
}
