package auditor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// maxLine is the longest line of a recording, in bytes. A body's text with every
// character escaped fits.
const maxLine = 8 * maxBody

// recorded is one line of a recording: what a model said to a question, whether or not
// that was an answer. The question itself is only there as a hash.
type recorded struct {
	Key    string    `json:"key"`
	Kind   string    `json:"kind"`
	Answer string    `json:"answer"`
	Model  string    `json:"model"`
	Time   time.Time `json:"time"`
}

// record writes a line. A recording that cannot be written is told, and changes nothing
// about the answer.
func (c *Client) record(key string, r *request, text string) {
	if c.o.Record == nil {
		return
	}
	line, err := strictjson.Marshal(recorded{Key: key, Kind: r.kind, Answer: text, Model: c.o.Model, Time: c.o.Now().UTC()})
	if err == nil {
		c.recordMu.Lock()
		_, err = c.o.Record.Write(append(line, '\n'))
		c.recordMu.Unlock()
	}
	if err != nil {
		err = fmt.Errorf("record answer: %w", err)
		c.o.Logger.Error("auditor", "error", err)
		c.status.noted(c.o.Now(), err)
	}
}

// readRecording reads lines by key. Of two answers to one question the later counts.
func readRecording(r io.Reader) (map[string]string, error) {
	answers := map[string]string{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if len(lines.Bytes()) == 0 {
			continue
		}
		var line recorded
		if err := strictjson.UnmarshalKnown(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("read recorded answers: line %d: %w", n, err)
		}
		if line.Key == "" {
			return nil, fmt.Errorf("read recorded answers: line %d: %w", n, errors.New("no key"))
		}
		answers[line.Key] = line.Answer
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read recorded answers: line %d: %w", n+1, err)
	}
	return answers, nil
}
