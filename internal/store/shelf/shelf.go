// Package shelf has the words for what servers of one log have in common beside it: notes, and things that are there for a while.
package shelf

// Note is one note, which every server of the log reads.
type Note struct {
	ID   int64
	Own  bool // this server wrote it
	Body []byte
}

// Place is one thing on the shelf. It is gone when its time (Unix nanoseconds) is over.
type Place struct {
	ID    string
	Body  []byte
	Until int64
}
