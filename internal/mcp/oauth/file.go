package oauth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/oauth2"

	"github.com/tidemark/tidemark/internal/base/filelock"
	"github.com/tidemark/tidemark/internal/base/fileowner"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Path is where tokens are in a data folder.
func Path(data string) string { return filepath.Join(data, "mcp-tokens.json") }

// file is what is kept: by issuer, and there by server.
type file struct {
	Issuers map[string]map[string]grant `json:"issuers"`
}

// grant is what an issuer gave us for one server.
type grant struct {
	Client   string    `json:"client"` // our id there
	Secret   string    `json:"secret,omitzero"`
	TokenURL string    `json:"tokenUrl"`
	Style    int       `json:"style,omitzero"` // how the secret is sent, as oauth2 counts
	Scopes   []string  `json:"scopes,omitzero"`
	Access   string    `json:"access"`
	Refresh  string    `json:"refresh,omitzero"`
	Expiry   time.Time `json:"expiry,omitzero"`
}

func (g *grant) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: g.Client, ClientSecret: g.Secret, Scopes: g.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: oauth2.AuthStyle(g.Style)},
	}
}

// take keeps a token. One that came without a new refresh token leaves the old one.
func (g *grant) take(t *oauth2.Token) {
	g.Access, g.Expiry = t.AccessToken, t.Expiry
	if t.RefreshToken != "" {
		g.Refresh = t.RefreshToken
	}
}

// access is the token; where nothing is kept, that is said.
func (g *grant) access() (string, error) {
	if g == nil {
		return "", ErrLogin
	}
	return g.Access, nil
}

// find is what is kept for a server. It is under one issuer: put sees to that.
func (f *file) find(server string) (string, *grant) {
	for issuer, all := range f.Issuers {
		if g, ok := all[server]; ok {
			return issuer, &g
		}
	}
	return "", nil
}

// put keeps what one issuer gave; what another gave for the same server before is forgotten.
func (f *file) put(issuer, server string, g grant) {
	f.drop(server)
	if f.Issuers == nil {
		f.Issuers = map[string]map[string]grant{}
	}
	if f.Issuers[issuer] == nil {
		f.Issuers[issuer] = map[string]grant{}
	}
	f.Issuers[issuer][server] = g
}

func (f *file) drop(server string) {
	for issuer, all := range f.Issuers {
		delete(all, server)
		if len(all) == 0 {
			delete(f.Issuers, issuer)
		}
	}
}

const maxFile = 4 << 20

func (k *Keeper) read() (*file, error) {
	f := &file{}
	info, err := os.Stat(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile || fileowner.Open(info, 0o077) {
		return nil, fmt.Errorf("read tokens: %s must be a file that only its owner can read (chmod 600)", k.path)
	}
	raw, err := os.ReadFile(k.path)
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	if err := strictjson.UnmarshalKnown(raw, f); err != nil {
		return nil, fmt.Errorf("read tokens: %s: %w", k.path, err)
	}
	return f, nil
}

// write replaces the file whole, so that a crash leaves the old one or the new one.
func (k *Keeper) write(f *file) error {
	raw, err := strictjson.MarshalIndent(f)
	if err != nil {
		return fmt.Errorf("keep tokens: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
		return fmt.Errorf("keep tokens: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(k.path), ".mcp-tokens-*") // 0600
	if err != nil {
		return fmt.Errorf("keep tokens: %w", err)
	}
	_, err = tmp.Write(append(raw, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), k.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep tokens: %w", err), os.Remove(tmp.Name()))
	}
	return nil
}

// Forget drops what is kept for a server, and says whether there was anything.
func (k *Keeper) Forget(ctx context.Context, server string) (had bool, err error) {
	err = k.alone(ctx, func() error {
		f, err := k.read()
		if err != nil {
			return err
		}
		if _, g := f.find(server); g == nil {
			return nil
		}
		had = true
		f.drop(server)
		return k.write(f)
	})
	return had, err
}

// How long another process may have the file, and how often we look.
const (
	lockWait  = 30 * time.Second
	lockEvery = 20 * time.Millisecond
)

// alone does something with the file while no other process changes it: a renewal that another
// one writes over is lost with its refresh token.
func (k *Keeper) alone(ctx context.Context, do func() error) (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
		return fmt.Errorf("lock tokens: %w", err)
	}
	lock, err := os.OpenFile(k.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock tokens: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	over := time.NewTimer(lockWait)
	defer over.Stop()
	for {
		ok, err := filelock.Try(lock)
		if err != nil {
			return fmt.Errorf("lock tokens: %w", err)
		}
		if ok {
			return do()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over.C:
			return fmt.Errorf("lock tokens: another process has held %s for %s: end it, or try again", k.path+".lock", lockWait)
		case <-time.After(lockEvery):
		}
	}
}
