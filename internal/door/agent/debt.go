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
// server knows, an empty file in the data folder says whose.

func debtFile(data, debtor string) string {
	sum := sha256.Sum256([]byte(debtor))
	return filepath.Join(data, "owed", hex.EncodeToString(sum[:16]))
}

func incur(data, debtor string) error {
	name := debtFile(data, debtor)
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		err = os.WriteFile(name, nil, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note unreported result: %w", err)
	}
	return nil
}

func owes(data, debtor string) (bool, error) {
	_, err := os.Stat(debtFile(data, debtor))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for unreported results: %w", err)
	}
	return true, nil
}

func settle(data, debtor string) error {
	if err := os.Remove(debtFile(data, debtor)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("clear unreported results: %w", err)
	}
	return nil
}
