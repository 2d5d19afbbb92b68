package app

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/tidemark/tidemark/internal/base/fileowner"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/llm/proxy"
	"github.com/tidemark/tidemark/internal/reports/doctor"
)

// Tokens are the bearer tokens of the roles. Those of people (owner, approver, admin) are on
// the disk as hashes only: an agent with a shell of the same user can read the file, and
// must not be able to answer with what it finds. See decision 19.
type Tokens struct {
	Agent    string `json:"agent"`
	Reader   string `json:"reader"`
	Owner    string `json:"owner"`
	Approver string `json:"approver"`
	Admin    string `json:"admin"`
	// Tickets is "required" in folders that were made since there are session tickets: words count only with one.
	Tickets string `json:"tickets,omitzero"`
}

// token is one role's, and whether it is a person's.
type token struct {
	role   string
	at     *string
	secret bool
}

func (t *Tokens) all() []token {
	return []token{
		{"agent", &t.Agent, false}, {"reader", &t.Reader, false},
		{"owner", &t.Owner, true}, {"approver", &t.Approver, true}, {"admin", &t.Admin, true},
	}
}

// forProxy are the tokens as the proxy must know them.
func (t Tokens) forProxy() proxy.Tokens {
	return proxy.Tokens{Agent: t.Agent, Others: []string{t.Reader, t.Owner, t.Approver, t.Admin}}
}

// forDoor are the tokens as the HTTP door must know them.
func (t Tokens) forDoor() httpapi.Tokens {
	return httpapi.Tokens{Agent: t.Agent, Reader: t.Reader, Owner: t.Owner, Approver: t.Approver, Admin: t.Admin}
}

// Hashed reports whether a token is only known by its hash.
func Hashed(token string) bool { return strings.HasPrefix(token, "sha256:") }

// hashed are the tokens as they lie on the disk.
func (t Tokens) hashed() Tokens {
	for _, k := range t.all() {
		if k.secret && *k.at != "" && !Hashed(*k.at) {
			*k.at = httpapi.HashToken(*k.at)
		}
	}
	return t
}

// LoadTokens reads the token file, or makes one at the first start; made says which. Those
// it made are whole, once; of those it read people's are hashes.
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
		var any map[string]strictjson.Value
		if strictjson.Unmarshal(raw, &any) == nil { // whole, with a member that we do not know
			return Tokens{}, false, fmt.Errorf("read tokens %s: %w: this folder is of a newer version of tidemark, use that one", path, err)
		}
		return Tokens{}, false, fmt.Errorf("read tokens %s: %w (delete the file to make new ones)", path, err)
	}
	return t, false, t.check(path)
}

func (t *Tokens) check(path string) error {
	seen := map[string]bool{"": true}
	for _, k := range t.all() {
		if *k.at == "" && (k.role == "reader" || k.role == "owner") {
			continue // a file from before there were any
		}
		if len(*k.at) < 32 {
			err := fmt.Errorf("read tokens %s: a token is missing or shorter than 32 characters (delete the file to make new ones)", path)
			*t = Tokens{}
			return err
		}
		if seen[*k.at] {
			*t = Tokens{}
			return fmt.Errorf("read tokens %s: two roles share a token (delete the file to make new ones)", path)
		}
		seen[*k.at] = true
	}
	return nil
}

// OpenTokens is LoadTokens for the server, which also brings a file up to date that holds
// people's tokens as they are: they stay good, and only their hashes are kept.
func OpenTokens(path string) (t Tokens, made bool, err error) {
	if t, made, err = LoadTokens(path); err != nil || made {
		return t, made, err
	}
	lacking := t.Reader == "" || t.Owner == ""
	if t == t.hashed() && !lacking {
		return t, false, nil
	}
	t = t.hashed()
	for _, k := range t.all() {
		if *k.at == "" {
			if *k.at, err = newToken(k.role); err != nil {
				return Tokens{}, false, err
			}
		}
	}
	return t, lacking, writeTokens(path, t)
}

// openTokens reads or makes the tokens. Those a failed start made would never be seen by
// anybody, so it is remembered whether there was a file.
func (a *App) openTokens() (err error) {
	_, missing := os.Stat(a.opts.Paths.Tokens())
	a.Tokens, a.NewTokens, err = OpenTokens(a.opts.Paths.Tokens())
	a.unshown = err == nil && a.NewTokens && errors.Is(missing, os.ErrNotExist)
	return err
}

// RenewTokens makes new tokens for people; the agent's and the reader's stay, so that
// nothing has to be installed again. A running server goes on with those it has.
func RenewTokens(path string) (Tokens, error) {
	t, made, err := LoadTokens(path)
	if err != nil || made {
		return t, err
	}
	for _, k := range t.all() {
		if k.secret || *k.at == "" {
			if *k.at, err = newToken(k.role); err != nil {
				return Tokens{}, err
			}
		}
	}
	return t, writeTokens(path, t)
}

// checkPrivate refuses secrets that others on this machine can read.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read secrets: %w", err)
	}
	if fileowner.Open(info, 0o077) {
		return fmt.Errorf("read secrets: %s is readable by others (run: chmod 600 %s)", path, path)
	}
	return nil
}

// guarded refuses a data folder that anybody may change, and a log that others than its owner may: who can put another file in
// the place of one decides what is remembered. What others can only read is told.
func (p Paths) guarded(logger *slog.Logger) error {
	info, err := os.Stat(p.Data)
	if err != nil {
		return fmt.Errorf("look at the data folder: %w", err)
	}
	if fileowner.Open(info, 0o002) && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("the data folder %s can be changed by every user (run: chmod 700 %s)", p.Data, p.Data)
	}
	for _, name := range doctor.PrivateFiles(p.Data) {
		info, err := os.Stat(name)
		switch {
		case err != nil: // there is none, or the next to look at it says why
		case fileowner.Open(info, 0o022):
			return fmt.Errorf("%s can be changed by other users (run: chmod 600 %s)", name, name)
		case fileowner.Open(info, 0o044):
			logger.Warn("other users can read a file of the data folder", "file", name, "mend", "chmod 600 "+name)
		}
	}
	return nil
}

func newToken(role string) (string, error) {
	var b [24]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make tokens: %w", err)
	}
	return "tm-" + role + "-" + hex.EncodeToString(b[:]), nil
}

func makeTokens(path string) (Tokens, error) {
	t := Tokens{Tickets: "required"}
	for _, k := range t.all() {
		var err error
		if *k.at, err = newToken(k.role); err != nil {
			return Tokens{}, err
		}
	}
	raw, err := t.encode()
	if err != nil {
		return Tokens{}, err
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
	_, err = f.Write(raw)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return Tokens{}, errors.Join(fmt.Errorf("make tokens: %w", err), os.Remove(path))
	}
	return t, nil
}

func (t Tokens) encode() ([]byte, error) {
	raw, err := strictjson.MarshalIndent(t.hashed())
	if err != nil {
		return nil, fmt.Errorf("make tokens: %w", err)
	}
	return append(raw, '\n'), nil
}

// writeTokens puts a whole file in the place of the old one.
func writeTokens(path string, t Tokens) error {
	raw, err := t.encode()
	if err != nil {
		return err
	}
	next := path + ".new"
	if err := os.WriteFile(next, raw, 0o600); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	return nil
}
