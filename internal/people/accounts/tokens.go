package accounts

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/datafolder"
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

// roleToken is one role's, and whether it is a person's.
type roleToken struct {
	role   string
	at     *string
	secret bool
}

func (t *Tokens) all() []roleToken {
	return []roleToken{
		{"agent", &t.Agent, false}, {"reader", &t.Reader, false},
		{"owner", &t.Owner, true}, {"approver", &t.Approver, true}, {"admin", &t.Admin, true},
	}
}

// hashMark begins the hash of a token in the file.
const hashMark = "sha256:"

// Hashed reports whether a token is only known by its hash.
func Hashed(token string) bool { return strings.HasPrefix(token, hashMark) }

// hashed are the tokens as they lie on the disk.
func (t Tokens) hashed() Tokens {
	for _, k := range t.all() {
		if k.secret && *k.at != "" && !Hashed(*k.at) {
			*k.at = hashMark + hashOf(*k.at)
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
	if err := datafolder.CheckPrivate(path); err != nil {
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
