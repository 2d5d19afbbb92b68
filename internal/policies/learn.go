package policies

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/reports/learn"
	"github.com/tidemark/tidemark/internal/reports/policyedit"
	"github.com/tidemark/tidemark/internal/services"
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

// policyFile is where the policy is, or would be, and what it says.
func policyFile(p datafolder.Paths) (file string, src []byte, err error) {
	if p.Config == "" {
		return filepath.Join(p.Data, datafolder.PolicyName), nil, nil
	}
	if file, err = filepath.EvalSymlinks(p.Config); err != nil {
		return "", nil, fmt.Errorf("read policy: %w", err)
	}
	src, err = load.Text(file)
	return file, src, err
}

// Proposed is a change of the policy that a model made of somebody's words. Nobody has agreed to it.
type Proposed struct {
	Model   string           `json:"model"`
	File    string           `json:"file"`    // the policy file it would change
	Before  string           `json:"before"`  // its text
	Text    string           `json:"text"`    // and with the change
	Said    *policyedit.Said `json:"said"`    // what the model said
	Tells   []string         `json:"tells"`   // what that would do, in words
	Loosens []string         `json:"loosens"` // and what of it asks less
}

// ProposePolicy has the model of the policy file put somebody's words into rules. What it answers must be a policy; it is told once
// what was wrong with it. Nothing is written.
func ProposePolicy(ctx context.Context, p datafolder.Paths, words string, tools []string, record string) (*Proposed, error) {
	cfg, _, err := load.Read(p.Config)
	if err != nil {
		return nil, err
	}
	file, src, err := policyFile(p)
	if err != nil {
		return nil, err
	}
	cfg.Auditor.Record = record
	files := services.Files{Programs: p.Programs(), Folder: p.ReaderFolder(), Children: p.ReadingPrograms()}
	out, err := services.Open(cfg, files, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close(context.Background()) }() //nolint:contextcheck // it ends what is open
	if out.Auditor == nil {
		return nil, services.ErrNoReader
	}
	root, _ := configfile.Parse(file, src)
	var groups []string
	if g := root.Get("groups"); g != nil {
		for _, k := range g.Keys {
			groups = append(groups, k.Name)
		}
	}
	x := &Proposed{Model: out.Auditor.Name(), File: file, Before: string(src)}
	wrong := ""
	for range 2 {
		system, user, schema := policyedit.Asking(words, tools, groups, wrong)
		answer, err := out.Auditor.Propose(ctx, system, user, schema)
		if err != nil {
			return nil, err
		}
		if err = x.take(answer, src); err == nil {
			x.Tells, x.Loosens = x.Said.Told(cfg.Policy)
			return x, nil
		}
		wrong = err.Error()
	}
	return nil, fmt.Errorf("what the model proposes is no policy: %s", wrong)
}

// take makes the text of an answer, which must be a policy.
func (x *Proposed) take(answer string, src []byte) error {
	said, err := policyedit.ReadSaid(answer)
	if err != nil {
		return err
	}
	text, err := policyedit.Add(x.File, src, said)
	if err != nil {
		return err
	}
	if _, faults := config.Parse(x.File, text, os.LookupEnv); faults.Err() != nil {
		return errors.New(faults.Render(text))
	}
	x.Said, x.Text = said, string(text)
	return nil
}
