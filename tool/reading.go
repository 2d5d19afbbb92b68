package tool

// Reading is what a model read in the definition of a tool: what a call of it does, and
// what its arguments are for. The definition may be anybody's, and so may what the model
// was led to believe: a reading is heard only where it makes a tool graver.
type Reading struct {
	// Act is read, create, change, delete, send, pay, execute, grant or unknown.
	Act string `json:"act"`
	// Params say what arguments are for: target, command, credential, object, content, …
	Params map[string]string `json:"params,omitzero"`
	// Leaves says that something leaves this machine with a call, beyond the question itself.
	Leaves bool   `json:"leaves,omitzero"`
	Why    string `json:"why,omitzero"`
	Model  string `json:"model,omitzero"`
}
