package policies_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/policyfile"
	"github.com/tidemark/tidemark/internal/policies"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
)

// judge is a monitor as far as policies are put in force there.
type judge struct{ set, shadow *policy.Set }

func (j *judge) Policy() *policy.Set             { return j.set }
func (j *judge) SetPolicy(s *policy.Set)         { j.set = s }
func (j *judge) SetShadow(s *policy.Set)         { j.shadow = s }
func (j *judge) Arguments(_, kept string) string { return kept }

const (
	first  = "preset: balanced\n"
	second = "preset: classic\n"
)

// keep makes a Keeper of a file that says first; told counts how often other servers hear of another policy.
func keep(t *testing.T, unproven bool) (k *policies.Keeper, j *judge, file string, told *int) {
	t.Helper()
	p := datafolder.Paths{Data: t.TempDir()}
	file = filepath.Join(p.Data, datafolder.PolicyName)
	if err := os.WriteFile(file, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Config = file
	cfg, _, err := load.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	j, told = &judge{set: cfg.Policy}, new(int)
	k = policies.New(p, cfg, policies.LookAt(file), policies.Options{
		Monitor: j, Unproven: func() bool { return unproven }, Tell: func(context.Context) { *told++ },
		Logger: slog.New(slog.DiscardHandler),
	})
	return k, j, file, told
}

// Whoever can write the file could allow what they cannot approve.
func TestAnotherPolicyTakesAProofWhereApprovingDoes(t *testing.T) {
	for name, unproven := range map[string]bool{"a proof is wanted": false, "none is": true} {
		t.Run(name, func(t *testing.T) {
			k, j, file, told := keep(t, unproven)
			was := k.Judges().Version
			if _, err := k.Reload(t.Context()); err != nil || j.set.Version() != was {
				t.Errorf("the same policy again: %v", err)
			}
			if err := os.WriteFile(file, []byte(second), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := k.Reload(t.Context())
			if unproven && (err != nil || k.Judges().Version == was || j.set.Version() != k.Judges().Version || *told != 2) {
				t.Errorf("it is not in force: %v, told %d times", err, *told)
			}
			if !unproven && (!errors.Is(err, engine.ErrProof) || k.Judges().Version != was || j.set.Version() != was || *told != 1) {
				t.Errorf("it is in force without a proof: %v", err)
			}
		})
	}
}

func TestAFileWithFaultsOrThatIsGoneChangesNothing(t *testing.T) {
	k, j, file, _ := keep(t, true)
	was := j.set
	if err := os.WriteFile(file, []byte("preset: none of ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Reload(t.Context()); err == nil || j.set != was {
		t.Errorf("faults: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Reload(t.Context()); err == nil || j.set != was {
		t.Errorf("gone: %v", err)
	}
}

func TestWhatAPersonSavesIsInForceAndTheOldFileIsKept(t *testing.T) {
	k, j, file, _ := keep(t, false)
	save := k.File().Save
	if _, err := save(t.Context(), tool.DigestOf([]byte("something else")).String(), second); !errors.Is(err, policyfile.ErrStale) {
		t.Errorf("of a text that is no longer there: %v", err)
	}
	notice, err := save(t.Context(), tool.DigestOf([]byte(first)).String(), second)
	if err != nil || !strings.Contains(notice, "Saved and in force") || j.set.Version() != k.Judges().Version {
		t.Fatalf("got %q, %v", notice, err)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != second {
		t.Errorf("the file says %q, %v", now, err)
	}
	kept, err := filepath.Glob(file + ".*.bak")
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept: %v, %v", kept, err)
	}
	if old, err := os.ReadFile(kept[0]); err != nil || string(old) != first {
		t.Errorf("kept is %q, %v", old, err)
	}
}
