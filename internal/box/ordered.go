package box

// Order is what a call of the session's own file tool does to one file, because the monitor let it. The bytes that such a call leaves
// are the proof: whoever wrote them, they are what was allowed to stand there.
type Order struct {
	Number uint64 // later calls have larger ones
	Path   string // below the workspace
	Whole  bool   // it holds Text afterwards
	Text   string
	Edits  []Edit // else this is replaced in it, one after the other
}

// Edit is one replacement in a text: of the only place where Old stands, or of all.
type Edit struct {
	Old string `json:"old"`
	New string `json:"new"`
	All bool   `json:"all,omitzero"`
}
