package auditor

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"github.com/tidemark/tidemark/intent"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// maxReadings bounds how many definitions are read in one life of the process, and how many
// readings are remembered: a server that renames its tools without end must not cost
// without end.
const maxReadings = 4096

// definitionKey is the hash of a definition, and of the way it is read.
func definitionKey(d tool.Definition) string {
	h := sha256.New()
	for _, part := range []string{intent.DefinitionVersion, d.Name, d.Description, string(d.Schema)} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Readings are what was read in definitions, by their hashes.
type Readings struct {
	mu    sync.Mutex
	known map[string]*tool.Reading // guarded by mu; nil: being read, or could not be
	begun int                      // guarded by mu
	to    io.Writer                // guarded by mu; nil: nowhere
}

// keptReading is one line of a file of readings.
type keptReading struct {
	Definition string       `json:"definition"` // its hash
	Reading    tool.Reading `json:"reading"`
}

// LoadReadings reads back what was kept. A line that cannot be read is left out: its
// definition is read again.
func LoadReadings(r io.Reader) (*Readings, error) {
	out := &Readings{known: map[string]*tool.Reading{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line keptReading
		if strictjson.UnmarshalKnown(lines.Bytes(), &line) == nil && len(out.known) < maxReadings {
			out.known[line.Definition] = &line.Reading
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read readings of definitions: %w", err)
	}
	return out, nil
}

// Of is what was read in a definition; nil: nothing.
func (r *Readings) Of(d tool.Definition) *tool.Reading {
	found, _ := r.get(definitionKey(d))
	return found
}

// keepTo appends what is read from now on.
func (r *Readings) keepTo(w io.Writer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = w
}

func (r *Readings) get(key string) (*tool.Reading, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, known := r.known[key]
	return found, known
}

// begin notes that a definition is being read: it is asked about once.
func (r *Readings) begin(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.known[key]; known || r.begun >= maxReadings || len(r.known) >= 2*maxReadings {
		return false
	}
	r.begun++
	r.known[key] = nil
	return true
}

// forget gives up on a definition for now.
func (r *Readings) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found, known := r.known[key]; known && found == nil {
		delete(r.known, key)
		r.begun--
	}
}

// put remembers a reading and writes it down.
func (r *Readings) put(key string, reading tool.Reading) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[key] = &reading
	if r.to == nil {
		return nil
	}
	line, err := strictjson.Marshal(keptReading{key, reading})
	if err == nil {
		_, err = r.to.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep reading of a definition: %w", err)
	}
	return nil
}
