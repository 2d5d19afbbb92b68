package event

// Contract is what one message of the user's asks for, as a model understood it from the
// words and the tools' names alone, or why there is none: then the words alone count.
type Contract struct {
	Word      uint64         `json:"word,omitzero"` // the record that holds the message
	Acts      []Promise      `json:"acts,omitzero"`
	Opens     string         `json:"opens,omitzero"` // none, named, linked, search
	Delegates bool           `json:"delegates,omitzero"`
	Form      int            `json:"form,omitzero"` // 2: it lists items; else it lists acts
	Items     []ContractItem `json:"items,omitzero"`
	Reads     []string       `json:"reads,omitzero"`  // what must be opened
	Follow    []string       `json:"follow,omitzero"` // contents that the user wants obeyed
	Never     []Ban          `json:"never,omitzero"`
	Assents   bool           `json:"assents,omitzero"`
	Why       string         `json:"why,omitzero"`
	Model     string         `json:"model,omitzero"` // empty: the host's own
	Prompt    string         `json:"prompt,omitzero"`
	Failed    string         `json:"failed,omitzero"` // why there is none
	Late      bool           `json:"late,omitzero"`   // only because it took too long
	TookMs    int64          `json:"tookMs,omitzero"` // that a call waited for it
	// Tools are those that it was drawn with, by the names policy knows them by.
	Tools []string `json:"tools,omitzero"`
	// Added is the tool whose call had it drawn once more: then this is all that counts of the message from now on. Where it
	// failed, what was drawn before counts on.
	Added *AddedTool `json:"added,omitzero"`
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
}

// Promise is one act that a contract asks for.
type Promise struct {
	Tool string            `json:"tool"`
	Args map[string]string `json:"args,omitzero"` // user:<literal>, lookup, delegated, agent; without secrets
	Most int               `json:"most,omitzero"`
}

// ContractItem is one kind of call that a contract of the second form asks for.
type ContractItem struct {
	Tool  string        `json:"tool"` // empty: it was taken back, and only keeps its place
	Quote string        `json:"quote,omitzero"`
	Need  string        `json:"need,omitzero"`
	Times int           `json:"times,omitzero"`
	Per   string        `json:"per,omitzero"`
	If    string        `json:"if,omitzero"`
	Args  []ContractArg `json:"args,omitzero"`
	Pin   string        `json:"pin,omitzero"` // the definition of the tool when it was drawn; empty: any
}

// ContractArg says where the value of an argument comes from; without secrets.
type ContractArg struct {
	Arg  string   `json:"arg"`
	How  string   `json:"how"`
	What []string `json:"what,omitzero"`
	Of   string   `json:"of,omitzero"`
}

// Ban is an act that the user forbids.
type Ban struct {
	Act  string `json:"act"`
	What string `json:"what,omitzero"`
}
