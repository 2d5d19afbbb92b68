package policies

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/reports/learn"
	"github.com/tidemark/tidemark/internal/store"
)

// LearnOptions say how much must have been observed.
type LearnOptions = learn.Options

// Lesson is what the log teaches.
type Lesson = learn.Lesson

// Proposal is one narrower rule.
type Proposal = learn.Proposal

// Fragment writes proposals as a part of a policy file.
func Fragment(list []Proposal) []byte { return learn.Fragment(list) }

// teaching is a log that is learnt from.
type teaching interface {
	Head(ctx context.Context) (store.Head, error)
	Since(ctx context.Context, q store.EntryQuery) ([]store.Entry, error)
}

// Learn folds the whole log and proposes what would narrow the policy in force.
// progress is told how many records were read.
func Learn(
	ctx context.Context, l teaching, p datafolder.Paths, opts LearnOptions, progress func(done, total int64),
) (*Lesson, error) {
	head, err := l.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	b := learn.New(opts)
	q := store.EntryQuery{Limit: store.MaxLimit}
	for done := int64(0); ; {
		page, err := l.Since(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("read log: %w", err)
		}
		for _, e := range page {
			q.After = e.ID
			if err := b.Add(e.Record); err != nil {
				return nil, fmt.Errorf("read log: %w", err)
			}
		}
		done += int64(len(page))
		progress(done, max(done, head.Records))
		if len(page) == 0 { // a page may be short before the end
			break
		}
	}
	file, src, err := policyFile(p)
	if err != nil {
		return nil, err
	}
	return b.Lesson(file, src)
}

// Applied is where a lesson was written.
type Applied struct {
	File   string `json:"file"`
	Backup string `json:"backup,omitzero"` // the file as it was; "" if there was none
}

// Apply adds proposals to the policy file, or makes one. The result parses, is nowhere
// looser than before, and replaces the file in one step; on any doubt nothing changes.
func Apply(p datafolder.Paths, lesson *Lesson, list []Proposal, now time.Time) (Applied, error) {
	file, src, err := policyFile(p)
	if err != nil {
		return Applied{}, err
	}
	out, err := lesson.Apply(file, src, list)
	if err != nil {
		return Applied{}, fmt.Errorf("apply: %s: %w", file, err)
	}
	if _, faults := config.Parse(file, out, os.LookupEnv); faults.Err() != nil {
		return Applied{}, fmt.Errorf("apply: the result does not parse: %w", faults.Err())
	}
	done := Applied{File: file}
	mode := os.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
		done.Backup = file + "." + now.UTC().Format("20060102T150405.000000000Z") + ".bak"
		if err := datafolder.WriteNew(done.Backup, src, mode); err != nil {
			return Applied{}, fmt.Errorf("keep the file as it was: %w", err)
		}
	}
	if err := datafolder.Replace(file, out, mode); err != nil {
		return Applied{}, fmt.Errorf("apply: %w", err)
	}
	return done, nil
}
