package cost

import (
	"fmt"
	"iter"
	"time"

	"github.com/tidemark/tidemark/internal/base/dailyjsonl"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Entry is one model call in the books: a line of the file of its day.
type Entry struct {
	Time      time.Time `json:"time"`
	Session   string    `json:"session"`
	Branch    string    `json:"branch,omitzero"`
	Turn      string    `json:"turn,omitzero"`
	Model     string    `json:"model"`
	Input     int64     `json:"input"`
	Output    int64     `json:"output"`
	Money     float64   `json:"money"`
	Estimated bool      `json:"estimated,omitzero"` // nobody counted its input
}

// Entries reads the books of a folder from a day (2026-03-01) on, oldest first.
func Entries(folder, from string) iter.Seq2[Entry, error] {
	return dailyjsonl.Read[Entry](folder, from)
}

// write adds an entry to the books.
func (g *Guard) write(e *Entry) error {
	line, err := strictjson.Marshal(e)
	if err == nil {
		err = g.book.Write(e.Time, line)
	}
	if err != nil {
		return fmt.Errorf("write cost: %w", err)
	}
	return nil
}
