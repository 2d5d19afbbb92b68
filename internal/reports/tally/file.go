package tally

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// file is the counts as they are written down, after their signature.
type file struct {
	At     int64            `json:"at"`
	Hash   []byte           `json:"hash"`
	Began  int64            `json:"began"`
	Stale  bool             `json:"stale,omitzero"`
	Counts strictjson.Value `json:"counts"`
}

// load reads the file. Where there is none, or one that nobody here wrote, nothing is counted yet.
func (t *Tally) load() *counts {
	none := anew(0)
	if t.path == "" {
		return none
	}
	raw, err := os.ReadFile(t.path)
	if err != nil || len(raw) < sha256.Size || !hmac.Equal(raw[:sha256.Size], t.sign(raw[sha256.Size:])) {
		return none
	}
	var f file
	if err := strictjson.UnmarshalKnown(raw[sha256.Size:], &f); err != nil || f.At < 0 || len(f.Hash) != len(audit.Hash{}) {
		return none
	}
	folded, err := report.Resume(f.Counts)
	if err != nil {
		return none
	}
	return &counts{at: f.At, hash: audit.Hash(f.Hash), began: f.Began, stale: f.Stale, folded: folded}
}

// save writes the file, whole or not at all. It is not synced: of one that is torn the signature does not fit.
func (t *Tally) save() error {
	if t.path == "" {
		return nil
	}
	folded, err := t.from.folded.State()
	if err != nil {
		return fmt.Errorf("keep counts: %w", err)
	}
	raw, err := strictjson.Marshal(file{t.from.at, t.from.hash[:], t.from.began, t.from.stale, folded})
	if err != nil {
		return fmt.Errorf("keep counts: %w", err)
	}
	next := t.path + ".next"
	err = os.WriteFile(next, append(t.sign(raw), raw...), 0o600)
	if err == nil {
		err = os.Rename(next, t.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep counts: %w", err), remove(next))
	}
	t.kept = t.from.at
	return nil
}

func (t *Tally) sign(raw []byte) []byte {
	h := hmac.New(sha256.New, t.key)
	_, _ = h.Write(raw) // a hash never fails
	return h.Sum(nil)
}

// Clear removes the file of counts, if there is one.
func Clear(path string) error {
	if err := remove(path); err != nil {
		return fmt.Errorf("remove counts: %w", err)
	}
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
