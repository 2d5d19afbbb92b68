package shim

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A result the server never heard of is in the agent's context all the same. Until the
// server knows, an empty file in the data folder says whose. So it is with a sub-agent of an
// agent that does not report failures: until its result is there, what it has read may be
// in the context at any time.

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

func settle(data, debtor string) error { return removeNote(debtFile(data, debtor)) }

// removeNote sees to it that a note is gone.
func removeNote(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove note: %w", err)
	}
	return nil
}

// maxAwaited bounds how many sub-agents with the same errand are waited for.
const maxAwaited = 64

func awaitedFile(data, debtor, errand string, n int) string {
	sum := sha256.Sum256([]byte(errand))
	return fmt.Sprintf("%s-%s-%d", debtFile(data, debtor), hex.EncodeToString(sum[:16]), n)
}

// await notes a sub-agent that may start now.
func await(data, debtor, errand string) error {
	err := os.MkdirAll(filepath.Dir(debtFile(data, debtor)), 0o700)
	for n := 0; err == nil && n < maxAwaited; n++ {
		f, taken := os.OpenFile(awaitedFile(data, debtor, errand, n), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if taken == nil {
			return f.Close()
		}
		if !errors.Is(taken, os.ErrExist) {
			err = taken
		}
	}
	if err == nil {
		err = errors.New("too many of the same are under way")
	}
	return fmt.Errorf("note sub-agent: %w", err)
}

// awaited are the notes of sub-agents whose results are not there.
func awaited(data, debtor string) ([]string, error) {
	folder, mark := filepath.Split(debtFile(data, debtor))
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("look for sub-agents: %w", err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), mark+"-") {
			out = append(out, filepath.Join(folder, e.Name()))
		}
	}
	return out, nil
}

// arrived clears one sub-agent of that errand.
func arrived(data, debtor, errand string) error {
	for n := range maxAwaited {
		err := os.Remove(awaitedFile(data, debtor, errand, n))
		if err == nil {
			return nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("clear sub-agent: %w", err)
		}
	}
	return nil
}

func forget(notes []string) error {
	var err error
	for _, name := range notes {
		err = errors.Join(err, removeNote(name))
	}
	return err
}
