package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Record is what was written for one installation. It is kept in the data folder.
type Record struct {
	Agent    string    `json:"agent"`
	Version  string    `json:"version"` // of the agent
	Project  string    `json:"project,omitzero"`
	Managed  bool      `json:"managed,omitzero"`
	Time     time.Time `json:"time"`
	Hook     string    `json:"hook"`
	HookHash string    `json:"hookHash"`
	Timeout  int64     `json:"timeoutMs,omitzero"`
	Wait     int64     `json:"waitMs,omitzero"`
	Sender   string    `json:"sender,omitzero"`
	Start    bool      `json:"start,omitzero"` // the hook starts the server
	Box      bool      `json:"box,omitzero"`   // commands are sent into boxes
	Files    []Entry   `json:"files"`
	Folders  []string  `json:"folders,omitzero"` // that were made, outermost first
}

// Entry is one file of an installation.
type Entry struct {
	Path     string      `json:"path"`
	Hash     string      `json:"hash"`              // of the whole file as it was written
	Own      bool        `json:"own,omitzero"`      // the file is all ours
	Mode     os.FileMode `json:"mode,omitzero"`     // what its mode must have at least
	New      bool        `json:"new,omitzero"`      // it was not there before
	Blank    *string     `json:"blank,omitzero"`    // it held nothing but this white space before
	Comments bool        `json:"comments,omitzero"` // JSON with comments
	Parts    []Part      `json:"parts,omitzero"`
	Block    string      `json:"block,omitzero"`  // of a TOML file
	Ended    bool        `json:"ended,omitzero"`  // a TOML file whose last line had to be ended first
	Undo     Undo        `json:"undo,omitzero"`   // of a JSON file
	Backup   string      `json:"backup,omitzero"` // copy of what was there before the first change
}

// Part is one value of ours in a JSON file.
type Part struct {
	Path  []string         `json:"path"`
	List  bool             `json:"list,omitzero"` // an element of the list at Path, else the member there
	Value strictjson.Value `json:"value"`
}

// Undo is what taking our parts out again needs to know besides the parts.
type Undo struct {
	Created []string                    `json:"created,omitzero"` // members that were not there, by pointer
	Padded  []string                    `json:"padded,omitzero"`  // "{}" and "[]" that were opened up
	Was     map[string]strictjson.Value `json:"was,omitzero"`     // values that were replaced
}

// Entry is the entry of that file; the zero one with its path where there is none.
func (r *Record) Entry(path string) Entry {
	if r != nil {
		for _, e := range r.Files {
			if e.Path == path {
				return e
			}
		}
	}
	return Entry{Path: path}
}

// RecordName has one name for each place an agent can be installed in: the user's own
// settings, a project's, the administrator's.
func RecordName(agent, project string, managed bool) string {
	switch {
	case managed:
		return agent + "@managed"
	case project != "":
		return agent + "@" + Hash([]byte(project))[:12]
	}
	return agent
}

// IsRecordName reports whether a name is one that RecordName gives for the agent.
func IsRecordName(name, agent string) bool {
	return name == agent || strings.HasPrefix(name, agent+"@") && !strings.ContainsAny(name, `/\`)
}

// RecordFile is where a record is kept.
func RecordFile(data, name string) string { return filepath.Join(data, "installed", name+".json") }

// ReadRecord reads a record.
func ReadRecord(path string) (*Record, error) {
	raw, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Record)
	if err := strictjson.Unmarshal(raw, r); err != nil {
		return nil, err
	}
	return r, nil
}

// Hash is the hash of a file's contents.
func Hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
