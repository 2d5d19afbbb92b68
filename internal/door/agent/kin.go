package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Some agents say whose sub-agent a session is only when it starts. What is said in it
// later is the other session's model speaking, not the owner; so a file in the data folder
// keeps whose it is.

// relate completes the event's parent, or notes it.
func (a *Adapter) relate(o Options, e *Event) error {
	if !a.kin {
		return nil
	}
	sum := sha256.Sum256([]byte(a.key(e.Session)))
	name := filepath.Join(o.Data, "kin", hex.EncodeToString(sum[:16]))
	if e.Parent != "" {
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = os.WriteFile(name, []byte(e.Parent), 0o600)
		}
		if err != nil {
			return fmt.Errorf("note whose sub-agent it is: %w", err)
		}
		return nil
	}
	parent, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look whose sub-agent it is: %w", err)
	}
	e.Parent = string(parent)
	return nil
}
