package hook

import (
	"bytes"
	"errors"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Tool is a tool definition as the host wrote it: {"name": …}, {"function": {"name": …}},
// a built-in tool that has only a {"type": …}, or the bare name. The zero Tool has no name.
type Tool struct {
	name string
	raw  JSON
}

// NewTool reads a definition. One without a name, or with two different ones, is an
// error: nobody could say which tool it lets the model call.
func NewTool(raw []byte) (Tool, error) {
	name, err := toolName(raw)
	if err != nil {
		return Tool{}, err
	}
	return Tool{name: name, raw: bytes.Clone(raw)}, nil
}

// ToolNamed is the definition that consists of the name: enough to keep a tool.
func ToolNamed(name string) Tool { return Tool{name: name} }

// Name is the tool's name, as the host spells it.
func (t Tool) Name() string { return t.name }

// Raw is the definition as it came, nil for a bare ToolNamed. It must not be changed.
func (t Tool) Raw() JSON { return t.raw }

// Equal reports whether both are the same definition byte for byte.
func (t Tool) Equal(u Tool) bool { return t.name == u.name && bytes.Equal(t.raw, u.raw) }

// MarshalJSON writes the definition as it came.
func (t Tool) MarshalJSON() ([]byte, error) {
	if t.raw == nil {
		return strictjson.Marshal(t.name)
	}
	return t.raw, nil
}

// UnmarshalJSON keeps the definition. One that NewTool would refuse has no name here,
// so that it matches no tool; Decode says what is wrong with it.
func (t *Tool) UnmarshalJSON(raw []byte) error {
	t.name, _ = toolName(raw)
	t.raw = bytes.Clone(raw)
	return nil
}

var (
	errNoName   = errors.New("tool has no name")
	errTwoNames = errors.New("tool has two different names")
)

func toolName(raw []byte) (string, error) {
	if JSON(raw).Kind() == '"' {
		var name string
		if err := strictjson.Unmarshal(raw, &name); err != nil {
			return "", err
		}
		return checkedName(name)
	}
	var def struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Function JSON   `json:"function"`
	}
	if err := strictjson.Unmarshal(raw, &def); err != nil {
		return "", err
	}
	var inner struct {
		Name string `json:"name"`
	}
	if def.Function.Kind() == '{' {
		if err := strictjson.Unmarshal(def.Function, &inner); err != nil {
			return "", err
		}
	}
	switch {
	case def.Name != "" && inner.Name != "" && def.Name != inner.Name:
		return "", errTwoNames
	case def.Name != "":
		return def.Name, nil
	case inner.Name != "":
		return inner.Name, nil
	case def.Function != nil || def.Type == "function":
		return "", errNoName // a kind of tool, not a tool
	}
	return checkedName(def.Type)
}

func checkedName(name string) (string, error) {
	if name == "" {
		return "", errNoName
	}
	return name, nil
}

// ToolCall is one call the model wants to make.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments JSON   `json:"arguments,omitzero"` // an object; nil is the empty one, in a result "as before"
}
