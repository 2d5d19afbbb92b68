package policies

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/people/policyfile"
	"github.com/tidemark/tidemark/tool"
)

// savePolicy writes the file where it still says what the person saw, keeps it as it was, and
// puts the very text in force that was given: whoever writes the file meanwhile puts nothing in force.
func (k *Keeper) savePolicy(ctx context.Context, before, text string) (string, error) {
	file, src, err := policyFile(k.Paths())
	if err != nil {
		return "", err
	}
	if tool.DigestOf(src).String() != before {
		return "", policyfile.ErrStale
	}
	cfg, faults := config.Parse(file, []byte(text), os.LookupEnv)
	if faults.Err() != nil {
		return "", faults.Err()
	}
	undo, kept, err := k.swapPolicy(file, src, []byte(text))
	if err != nil {
		return "", err
	}
	warnings, err := k.enforce(cfg, faults)
	if err != nil {
		return "", errors.Join(err, undo())
	}
	k.Tell(ctx)
	notice := "Saved and in force. " + kept
	if len(warnings) > 0 {
		notice += ". " + strings.Join(warnings, "; ")
	}
	return notice, nil
}

// swapPolicy puts a text in the place of the policy file, or makes the first one.
func (k *Keeper) swapPolicy(file string, src, text []byte) (undo func() error, kept string, err error) {
	if k.Paths().Config == "" {
		if err := datafolder.WriteNew(file, text, 0o600); err != nil {
			return nil, "", fmt.Errorf("write policy: %w", err)
		}
		return func() error { return os.Remove(file) }, "It is the first policy file here: " + file, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, "", fmt.Errorf("read policy: %w", err)
	}
	mode := info.Mode().Perm()
	backup := file + "." + time.Now().UTC().Format("20060102T150405.000000000Z") + ".bak"
	if err := datafolder.WriteNew(backup, src, mode); err != nil {
		return nil, "", fmt.Errorf("keep the file as it was: %w", err)
	}
	if err := datafolder.Replace(file, text, mode); err != nil {
		return nil, "", fmt.Errorf("write policy: %w", err)
	}
	return func() error { return datafolder.Replace(file, src, mode) }, "The file as it was is beside it: " + backup, nil
}
