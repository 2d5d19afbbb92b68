package webpush

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// The bounds of the file.
const (
	maxEach = 10 // browsers of one person
	maxAll  = 500
)

// ErrFull is returned where no further browser fits.
var ErrFull = errors.New("too many browsers get notices already; remove one first")

// book is the file: this server's key, by which services know it, and the browsers that are told. It is
// safe for concurrent use.
type book struct {
	path string
	key  *ecdsa.PrivateKey

	mu   sync.Mutex
	list []entry // guarded by mu
}

// page is the file as it is written.
type page struct {
	Key      string  `json:"key"` // the private scalar, base64url
	Browsers []entry `json:"browsers"`
}

// openBook reads the file, or makes one with a new key.
func openBook(path string) (*book, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return newBook(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read browsers: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read browsers: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("read browsers: %s is readable by others (run: chmod 600 %s)", path, path)
	}
	var p page
	if err := strictjson.UnmarshalKnown(raw, &p); err != nil {
		return nil, fmt.Errorf("read browsers %s: %w", path, err)
	}
	b := &book{path: path, list: p.Browsers}
	scalar, err := base64.RawURLEncoding.DecodeString(p.Key)
	if err == nil {
		b.key, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	}
	if err != nil {
		return nil, fmt.Errorf("read browsers: %s holds no key (remove the file: browsers then ask anew)", path)
	}
	for i := range b.list {
		if _, _, err := b.list[i].keys(); err != nil || b.list[i].By == "" {
			return nil, fmt.Errorf("read browsers: entry %d of %s is none (remove the file: browsers then ask anew)", i+1, path)
		}
	}
	return b, nil
}

func newBook(path string) (*book, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key for notices: %w", err)
	}
	b := &book{path: path, key: key}
	return b, b.write(nil)
}

// write puts a whole file in the place of the old one, and counts it then.
// Preconditions: mu is held, or nobody else knows the book yet.
func (b *book) write(next []entry) error {
	scalar, err := b.key.Bytes()
	if err != nil {
		return fmt.Errorf("write browsers: %w", err)
	}
	p := page{Key: base64.RawURLEncoding.EncodeToString(scalar), Browsers: next}
	if p.Browsers == nil {
		p.Browsers = []entry{}
	}
	raw, err := strictjson.MarshalIndent(p)
	if err != nil {
		return fmt.Errorf("write browsers: %w", err)
	}
	file := b.path + ".new"
	if err := os.WriteFile(file, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write browsers: %w", err)
	}
	if err := os.Rename(file, b.path); err != nil {
		return fmt.Errorf("write browsers: %w", err)
	}
	b.list = next
	return nil
}

// room is the error for a browser that does not fit any more.
func (b *book) room(e *entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fits(e)
}

// fits counts what is there besides the browser itself.
// Preconditions: mu is held.
func (b *book) fits(e *entry) error {
	all, own := 0, 0
	for i := range b.list {
		if b.list[i].Endpoint == e.Endpoint {
			continue
		}
		if all++; b.list[i].By == e.By {
			own++
		}
	}
	if all >= maxAll || own >= maxEach {
		return ErrFull
	}
	return nil
}

// add writes a browser down; one that is there already is whoever's asked last.
func (b *book) add(e entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fits(&e); err != nil {
		return err
	}
	next := slices.DeleteFunc(slices.Clone(b.list), func(o entry) bool { return o.Endpoint == e.Endpoint })
	return b.write(append(next, e))
}

// drop forgets the browsers that fit, and returns them.
func (b *book) drop(fits func(*entry) bool) (gone []entry, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var next []entry
	for i := range b.list {
		if fits(&b.list[i]) {
			gone = append(gone, b.list[i])
		} else {
			next = append(next, b.list[i])
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	return gone, b.write(next)
}

// live are the browsers whose time is not over.
func (b *book) live(now time.Time) []entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.list), func(e entry) bool { return !now.Before(e.ends()) })
}

// Forget drops somebody's browsers while no server runs. A file that is not there stays so.
func Forget(path, by string) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	b, err := openBook(path)
	if err != nil {
		return err
	}
	_, err = b.drop(func(e *entry) bool { return e.By == by })
	return err
}
