package event

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Contract is what one message of the user's asks for, as a model understood it from the
// words and the tools' names alone, or why there is none: then the words alone count.
type Contract struct {
	Word      uint64         `json:"word,omitzero"` // the record that holds the message
	Acts      []Promise      `json:"acts,omitzero"`
	Opens     string         `json:"opens,omitzero"` // none, named, linked, search
	Delegates bool           `json:"delegates,omitzero"`
	Form      Form           `json:"form,omitzero"` // 2 and 3: it lists items; else it lists acts
	Items     []ContractItem `json:"items,omitzero"`
	Reads     []string       `json:"reads,omitzero"`  // what must be opened
	Follow    []string       `json:"follow,omitzero"` // contents that the user wants obeyed
	// Limits are how far they want that, by content.
	Limits  map[string]string `json:"limits,omitzero"`
	Never   []Ban             `json:"never,omitzero"`
	Assents bool              `json:"assents,omitzero"`
	Why     string            `json:"why,omitzero"`
	Model   string            `json:"model,omitzero"` // empty: the host's own
	Prompt  string            `json:"prompt,omitzero"`
	Failed  string            `json:"failed,omitzero"` // why there is none
	Late    bool              `json:"late,omitzero"`   // only because it took too long
	TookMs  int64             `json:"tookMs,omitzero"` // that a call waited for it
	// Tools are those that it was drawn with, by the names policy knows them by.
	Tools []string `json:"tools,omitzero"`
	// Added is the tool whose call had it drawn once more: then this is all that counts of the message from now on. Where it
	// failed, what was drawn before counts on.
	Added *AddedTool `json:"added,omitzero"`
}

// Took is how long a call waited for it; of none it is nothing.
func (c *Contract) Took() time.Duration {
	if c == nil {
		return 0
	}
	return time.Duration(c.TookMs) * time.Millisecond
}

// AddedTool is a tool that was not known when its message was read.
type AddedTool struct {
	Tool   string           `json:"tool"`
	Params []AddedParameter `json:"params,omitzero"`
}

// AddedParameter is an argument of it that a model may be shown.
type AddedParameter struct {
	Name string `json:"name"`
	Type string `json:"type,omitzero"`
	// Choices are the values that its schema lists.
	Choices []string `json:"choices,omitzero"`
}

// Promise is one act that a contract asks for.
type Promise struct {
	Tool string            `json:"tool"`
	Args map[string]string `json:"args,omitzero"` // user:<literal>, lookup, delegated, agent; without secrets
	Most int               `json:"most,omitzero"`
}

// ContractItem is one kind of call that a contract asks for which lists items.
type ContractItem struct {
	Tool  string        `json:"tool"` // empty: it was taken back, and only keeps its place
	Quote string        `json:"quote,omitzero"`
	Need  string        `json:"need,omitzero"`
	Times int           `json:"times,omitzero"`
	Per   string        `json:"per,omitzero"`
	If    string        `json:"if,omitzero"`
	Args  []ContractArg `json:"args,omitzero"`
	Pin   string        `json:"pin,omitzero"` // the definition of the tool when it was drawn; empty: any
	// Except is what it is not done to, and Or names the choice that it is one of.
	Except []string `json:"except,omitzero"`
	Or     string   `json:"or,omitzero"`
}

// ContractArg says where the value of an argument comes from; without secrets.
type ContractArg struct {
	Arg  string   `json:"arg"`
	How  string   `json:"how"`
	What []string `json:"what,omitzero"`
	Of   string   `json:"of,omitzero"`
	Is   []string `json:"is,omitzero"` // what was worked out of them
}

// Ban is an act that the user forbids, or wants to see first.
type Ban struct {
	Act   string `json:"act"`
	What  string `json:"what,omitzero"`
	First bool   `json:"first,omitzero"`
}

// Form is the form of a contract. Programs that know no third form take whatever they do not know for nothing, and with it bans and
// exceptions; so from the third on it is written as a text, which they cannot read as a form: they name the record and stop.
type Form int

// MarshalJSON writes a number, or the form's name.
func (f Form) MarshalJSON() ([]byte, error) {
	if f <= lastNumbered {
		return strconv.AppendInt(nil, int64(f), 10), nil
	}
	return strconv.AppendQuote(nil, formName+strconv.Itoa(int(f))), nil
}

// UnmarshalJSON reads either.
func (f *Form) UnmarshalJSON(b []byte) error {
	text := string(b)
	if name, err := strconv.Unquote(text); err == nil {
		var named bool
		if text, named = strings.CutPrefix(name, formName); !named {
			return fmt.Errorf("%q is no form of a contract", name)
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > lastForm {
		return fmt.Errorf("%s is no form of a contract that this program knows: use the newer program", text)
	}
	*f = Form(n)
	return nil
}

const (
	formName     = "contract-"
	lastNumbered = 2
	lastForm     = 3
)
