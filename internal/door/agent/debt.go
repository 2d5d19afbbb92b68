package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A result the server never heard of is in the agent's context all the same. Until the
// server knows, a file in the data folder says so.

func debtFile(data, session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(data, "owed", hex.EncodeToString(sum[:16]))
}

func incur(data, session string) error {
	name := debtFile(data, session)
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		err = os.WriteFile(name, []byte(session+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("note unreported result: %w", err)
	}
	return nil
}

func owes(data, session string) (bool, error) {
	_, err := os.Stat(debtFile(data, session))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for unreported results: %w", err)
	}
	return true, nil
}

func settle(data, session string) error {
	if err := os.Remove(debtFile(data, session)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("clear unreported results: %w", err)
	}
	return nil
}
