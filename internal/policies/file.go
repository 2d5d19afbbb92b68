package policies

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/people/policyfile"
	"github.com/tidemark/tidemark/internal/reports/policyedit"
	"github.com/tidemark/tidemark/internal/reports/report"
)

// File is the policy as a text, for the console and the API.
func (k *Keeper) File() policyfile.PolicyFile {
	return policyfile.PolicyFile{
		Read: k.readPolicyText, Check: k.checkPolicyText, Compare: k.comparePolicy, Draft: k.draftPolicy, Save: k.savePolicy,
	}
}

// draftPolicy is the file with what a suggestion wants, if it still fits.
func (k *Keeper) draftPolicy(s *report.Suggestion) (string, error) {
	file, src, err := policyFile(k.Paths())
	if err != nil {
		return "", err
	}
	out, err := policyedit.Of(file, src, k.Monitor.Policy(), s)
	if err == nil && !CheckText(file, out).OK {
		err = fmt.Errorf("%w: %s", policyedit.ErrByHand, s.Change)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", policyfile.ErrDraft, err)
	}
	return string(out), nil
}

func (k *Keeper) readPolicyText() (file, text string, err error) {
	file, src, err := policyFile(k.Paths())
	return file, string(src), err
}

func (k *Keeper) checkPolicyText(text string) policyfile.Checked {
	return CheckText(k.Paths().Config, []byte(text))
}

// CheckText finds every fault of a policy text; file is what it is called in them.
func CheckText(file string, text []byte) policyfile.Checked {
	cfg, faults := config.Parse(file, text, os.LookupEnv)
	out := policyfile.Checked{OK: faults.Err() == nil, Faults: []policyfile.Fault{}}
	if len(faults) > 0 {
		out.Rendered = faults.Render(text)
	}
	for _, f := range faults {
		out.Faults = append(out.Faults, policyfile.Fault{
			Line: f.Pos.Line, Col: f.Pos.Col, Severity: f.Severity.String(), Message: f.Message, Hint: f.Hint,
		})
	}
	if out.OK {
		out.Version = cfg.Policy.Version()
	}
	return out
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
