// Package policies is the policy of an installation as a file: which one is in force, what another one would change, how it is saved,
// learnt from the log and written by a model.
package policies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/store"
	"github.com/tidemark/tidemark/policy"
)

// InForce says which policy a server judges by, and where it came from.
type InForce struct {
	Version  string `json:"version"`
	File     string `json:"file"`     // "": the shipped policy, no file was found
	Sections string `json:"sections"` // identifies the sections that take effect only at a start
}

// inForce is what a configuration puts in force.
func inForce(file string, c *config.Config) InForce {
	sum := sha256.Sum256([]byte(c.Outside))
	return InForce{Version: c.Policy.Version(), File: file, Sections: hex.EncodeToString(sum[:8])}
}

// Monitor is what a policy is put in force at.
type Monitor interface {
	Policy() *policy.Set
	SetPolicy(p *policy.Set)
	SetShadow(p *policy.Set)
	Arguments(session, kept string) string
}

// History is a log as a policy is held against it.
type History interface {
	Sessions(ctx context.Context, q store.SessionQuery) ([]store.Session, error)
	Load(ctx context.Context, session string, after uint64) iter.Seq2[audit.Record, error]
}

// Options are what a Keeper needs.
type Options struct {
	Monitor  Monitor
	Log      History
	Unproven func() bool               // another policy takes no proof of whoever wants it
	Tell     func(ctx context.Context) // other servers, that another one is in force
	Logger   *slog.Logger
}

// Keeper keeps the policy of a server: it puts in force what the file says, again whenever the file changes, and tries, compares and
// saves texts of it.
type Keeper struct {
	Options
	start     *config.Config
	comparing chan struct{} // held while a policy is tried on what was recorded
	reading   sync.Mutex    // guards judges and at, while the file is read
	judges    InForce
	at        datafolder.Paths
	seen      Look // how the file looked when it was last read; the watcher's own
}

// New makes one for a server that was started with a file, which looked so before it was read.
func New(p datafolder.Paths, cfg *config.Config, seen Look, o Options) *Keeper {
	return &Keeper{
		Options: o, start: cfg, comparing: make(chan struct{}, 1), judges: inForce(datafolder.Absolute(p.Config), cfg), at: p, seen: seen,
	}
}

// Judges is what this server judges by now.
func (k *Keeper) Judges() InForce {
	k.reading.Lock()
	defer k.reading.Unlock()
	return k.judges
}

// OnDisk is what a server that started now would judge by.
func OnDisk(p datafolder.Paths) (InForce, error) {
	p, err := p.Again()
	if err != nil {
		return InForce{}, err
	}
	cfg, _, err := load.Read(p.Config)
	if err != nil {
		return InForce{}, err
	}
	return inForce(datafolder.Absolute(p.Config), cfg), nil
}

// Paths are those of this server, with the policy file that is there by now.
func (k *Keeper) Paths() datafolder.Paths {
	k.reading.Lock()
	defer k.reading.Unlock()
	return k.at
}

// Reload reads the policy file again, or for the first time if it has come since the start.
// A file with faults changes nothing, and neither does one that is gone.
//
// Where approving takes a proof, so does another policy: whoever can write the file and ask for a reload
// could allow what they cannot approve. Only what is in force already is read without one.
func (k *Keeper) Reload(ctx context.Context) ([]string, error) {
	warnings, err := k.TakeUp(k.Unproven())
	if err == nil {
		k.Tell(ctx)
	}
	return warnings, err
}

// TakeUp puts what the policy file says now in force; another policy only for whoever is proven.
func (k *Keeper) TakeUp(proven bool) ([]string, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	p, err := k.at.Again()
	if err != nil {
		return nil, err
	}
	cfg, warnings, err := load.Read(p.Config)
	if err != nil {
		return nil, err
	}
	if !proven && cfg.Policy.Version() != k.Monitor.Policy().Version() {
		return nil, fmt.Errorf("reload policy: %w, and so does another policy: save it on the page Policy of the console "+
			"(tidemark console), or restart the server", engine.ErrProof)
	}
	return k.put(p, cfg, warnings)
}

// enforce puts a configuration in force that a person has read and saved.
func (k *Keeper) enforce(cfg *config.Config, warnings configfile.Faults) ([]string, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	p, err := k.at.Again()
	if err != nil {
		return nil, err
	}
	return k.put(p, cfg, warnings)
}

// put makes a configuration the one that is judged by.
// Preconditions: reading is held.
func (k *Keeper) put(p datafolder.Paths, cfg *config.Config, warnings configfile.Faults) ([]string, error) {
	candidate, err := load.Shadow(p.Config, cfg)
	if err != nil {
		return nil, err
	}
	k.Monitor.SetPolicy(cfg.Policy)
	k.Monitor.SetShadow(candidate)
	k.at = p
	now := inForce(datafolder.Absolute(p.Config), cfg)
	now.Sections = k.judges.Sections // those of the start stay
	k.judges = now
	out := make([]string, 0, len(warnings)+1)
	for _, w := range warnings {
		out = append(out, w.Error())
	}
	if cfg.Outside != k.start.Outside {
		out = append(out, "server, hooks, plugins, llm, mcp, auditor, verifier, telegram, approvals or channels have changed: "+
			"that part takes effect at the next start")
	}
	k.Logger.Info("policy in force", "version", now.Version, "from", Source(now.File), "warnings", len(out))
	return out, nil
}

// Source is a policy file for people.
func Source(file string) string {
	if file == "" {
		return "the program itself, no file was found"
	}
	return file
}

// Look is how a file looks from outside. Two equal looks are one content, in all likelihood.
type Look struct {
	changed time.Time
	size    int64
	mode    fs.FileMode
}

// LookAt looks at a file; one that is not there looks like none.
func LookAt(file string) Look {
	info, err := os.Stat(file)
	if err != nil {
		return Look{}
	}
	return Look{info.ModTime(), info.Size(), info.Mode()}
}

// WatchEvery is how often the policy file is looked at.
const WatchEvery = time.Second

// Watch puts a changed policy file in force. It waits until the file has looked the same twice:
// a file that is being written may be a good one already, and mean less than it will.
func (k *Keeper) Watch(ctx context.Context, tick <-chan time.Time) {
	p := k.Paths()
	file := p.Config
	if file == "" {
		file = filepath.Join(p.Data, datafolder.PolicyName)
	}
	for last := k.seen; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		now := LookAt(file)
		if now == k.seen || now != last {
			last = now
			continue
		}
		k.seen = now
		if now == (Look{}) {
			k.Logger.Error("the policy file is gone; what it said stays in force until the next start", "file", file)
			continue
		}
		if _, err := k.Reload(ctx); err != nil {
			k.Logger.Error("policy not reloaded; the old one stays in force", "error", fmt.Sprint(err))
		}
	}
}
