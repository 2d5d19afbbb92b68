package app

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Tokens are the bearer tokens of the three roles.
type Tokens struct {
	Agent    string `json:"agent"`
	Approver string `json:"approver"`
	Admin    string `json:"admin"`
}

// LoadTokens reads the token file, or makes one at the first start; made says which.
func LoadTokens(path string) (t Tokens, made bool, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		t, err = makeTokens(path)
		return t, true, err
	}
	if err != nil {
		return Tokens{}, false, fmt.Errorf("read tokens: %w", err)
	}
	if err := checkPrivate(path); err != nil {
		return Tokens{}, false, err
	}
	if err := strictjson.UnmarshalKnown(raw, &t); err != nil {
		return Tokens{}, false, fmt.Errorf("read tokens %s: %w (delete the file to make new ones)", path, err)
	}
	for _, v := range []string{t.Agent, t.Approver, t.Admin} {
		if len(v) < 32 {
			return Tokens{}, false, fmt.Errorf("read tokens %s: a token is missing or shorter than 32 characters "+
				"(delete the file to make new ones)", path)
		}
	}
	if t.Agent == t.Approver || t.Agent == t.Admin || t.Approver == t.Admin {
		return Tokens{}, false, fmt.Errorf("read tokens %s: two roles share a token (delete the file to make new ones)", path)
	}
	return t, false, nil
}

// checkPrivate refuses secrets that others on this machine can read.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read secrets: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("read secrets: %s is readable by others (run: chmod 600 %s)", path, path)
	}
	return nil
}

func makeTokens(path string) (Tokens, error) {
	var t Tokens
	for _, p := range []struct {
		role string
		to   *string
	}{{"agent", &t.Agent}, {"approver", &t.Approver}, {"admin", &t.Admin}} {
		var b [24]byte
		if _, err := rand.Read(b[:]); err != nil {
			return Tokens{}, fmt.Errorf("make tokens: %w", err)
		}
		*p.to = "tm-" + p.role + "-" + hex.EncodeToString(b[:])
	}
	raw, err := strictjson.MarshalIndent(t)
	if err != nil {
		return Tokens{}, fmt.Errorf("make tokens: %w", err)
	}
	// O_EXCL: two servers started at once must not each believe in tokens of their own.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		again, _, err := LoadTokens(path)
		return again, err
	}
	if err != nil {
		return Tokens{}, fmt.Errorf("make tokens: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return Tokens{}, errors.Join(fmt.Errorf("make tokens: %w", err), os.Remove(path))
	}
	return t, nil
}
