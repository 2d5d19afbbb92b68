package policies

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/reports/policyedit"
	"github.com/tidemark/tidemark/internal/services"
)

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
