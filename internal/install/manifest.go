package install

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/strictjson"
)

// manifest is the record of one installation, in the data folder. The hook program reads
// it too, at the start of a session.
type manifest struct {
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
	Files    []entry   `json:"files"`
	Folders  []string  `json:"folders,omitzero"` // that were made, outermost first
}

// entry is one file of an installation.
type entry struct {
	Path     string `json:"path"`
	Hash     string `json:"hash"`              // of the whole file as it was written
	Own      bool   `json:"own,omitzero"`      // the file is all ours
	New      bool   `json:"new,omitzero"`      // it was not there before
	Comments bool   `json:"comments,omitzero"` // JSON with comments
	Parts    []part `json:"parts,omitzero"`
	Block    string `json:"block,omitzero"`  // of a TOML file
	Ended    bool   `json:"ended,omitzero"`  // a TOML file whose last line had to be ended first
	Undo     undo   `json:"undo,omitzero"`   // of a JSON file
	Backup   string `json:"backup,omitzero"` // copy of what was there before the first change
}

// part is one value of ours in a JSON file.
type part struct {
	Path  []string         `json:"path"`
	List  bool             `json:"list,omitzero"`
	Value strictjson.Value `json:"value"`
	Text  string           `json:"text"` // without white space, for a quick look
}

func (m *manifest) entry(path string) entry {
	if m != nil {
		for _, e := range m.Files {
			if e.Path == path {
				return e
			}
		}
	}
	return entry{Path: path}
}

func (m *manifest) options() Options {
	return Options{Timeout: time.Duration(m.Timeout) * time.Millisecond, Wait: time.Duration(m.Wait) * time.Millisecond, Sender: m.Sender}
}

// manifestPath has one name for each place an agent can be installed in.
func manifestPath(w World, agent string) string {
	name := agent
	switch {
	case w.Managed:
		name += "@managed"
	case w.Project != "":
		name += "@" + hashOf([]byte(w.Project))[:12]
	}
	return filepath.Join(w.Data, "installed", name+".json")
}

// readManifest is nil where nothing is on record.
func readManifest(w World, agent string) (*manifest, error) {
	raw, err := os.ReadFile(manifestPath(w, agent))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read record of installation: %w", err)
	}
	m := new(manifest)
	if err := strictjson.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("read record of installation %s: %w", manifestPath(w, agent), err)
	}
	return m, nil
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func hashFile(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return hashOf(raw), nil
}
