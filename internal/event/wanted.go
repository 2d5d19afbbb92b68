package event

// Wanted is what a command in a box wants of the world outside it: a verb and a place, never a place alone. It is what a call of a
// capability has as its arguments, so that the question about it shows it whole, and a yes is for exactly that.
type Wanted struct {
	Verb     string   `json:"verb"` // read, connect, push, fetch, clone, pull, install, keep
	Host     string   `json:"host"`
	Port     int      `json:"port"`
	Remote   string   `json:"remote,omitzero"` // as the repository calls it
	Place    string   `json:"place,omitzero"`  // the repository over there
	Refs     []string `json:"refs,omitzero"`
	Commits  []string `json:"commits,omitzero"`
	Files    []string `json:"files,omitzero"`
	More     int      `json:"more,omitzero"` // commits that are not listed
	Packages []string `json:"packages,omitzero"`
	Lines    []string `json:"lines,omitzero"`   // of files that are to be kept: what is new in them, and what is gone
	Program  string   `json:"program,omitzero"` // what the process calls itself
	Command  string   `json:"command"`          // the line that runs
}
