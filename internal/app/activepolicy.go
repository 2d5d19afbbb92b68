package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
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

// Judges is what this server judges by now.
func (a *App) Judges() InForce {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.judges
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

// paths are those of this server, with the policy file that is there by now.
func (a *App) paths() datafolder.Paths {
	a.reading.Lock()
	defer a.reading.Unlock()
	return a.opts.Paths
}

// Reload reads the policy file again, or for the first time if it has come since the start.
// A file with faults changes nothing, and neither does one that is gone.
//
// Where approving takes a proof, so does another policy: whoever can write the file and ask for a reload
// could allow what they cannot approve. Only what is in force already is read without one.
func (a *App) Reload(ctx context.Context) ([]string, error) {
	warnings, err := a.takeUp(a.keys.Required() == approvalproof.None)
	if err == nil {
		a.tellPolicy(ctx)
	}
	return warnings, err
}

// takeUp puts what the policy file says now in force; another policy only for whoever is proven.
func (a *App) takeUp(proven bool) ([]string, error) {
	a.reading.Lock()
	defer a.reading.Unlock()
	p, err := a.opts.Paths.Again()
	if err != nil {
		return nil, err
	}
	cfg, warnings, err := load.Read(p.Config)
	if err != nil {
		return nil, err
	}
	if !proven && cfg.Policy.Version() != a.Monitor.Policy().Version() {
		return nil, fmt.Errorf("reload policy: %w, and so does another policy: save it on the page Policy of the console "+
			"(tidemark console), or restart the server", engine.ErrProof)
	}
	return a.put(p, cfg, warnings)
}

// enforce puts a configuration in force that a person has read and saved.
func (a *App) enforce(cfg *config.Config, warnings configfile.Faults) ([]string, error) {
	a.reading.Lock()
	defer a.reading.Unlock()
	p, err := a.opts.Paths.Again()
	if err != nil {
		return nil, err
	}
	return a.put(p, cfg, warnings)
}

// put makes a configuration the one that is judged by.
// Preconditions: reading is held.
func (a *App) put(p datafolder.Paths, cfg *config.Config, warnings configfile.Faults) ([]string, error) {
	candidate, err := load.Shadow(p.Config, cfg)
	if err != nil {
		return nil, err
	}
	a.Monitor.SetPolicy(cfg.Policy)
	a.Monitor.SetShadow(candidate)
	a.opts.Paths = p
	now := inForce(datafolder.Absolute(p.Config), cfg)
	now.Sections = a.judges.Sections // those of the start stay
	a.judges = now
	out := make([]string, 0, len(warnings)+1)
	for _, w := range warnings {
		out = append(out, w.Error())
	}
	if cfg.Outside != a.config.Outside {
		out = append(out, "server, hooks, plugins, llm, mcp, auditor, verifier, telegram, approvals or channels have changed: "+
			"that part takes effect at the next start")
	}
	a.opts.Logger.Info("policy in force", "version", now.Version, "from", from(now.File), "warnings", len(out))
	return out, nil
}

// from is a policy file for people.
func from(file string) string {
	if file == "" {
		return "the program itself, no file was found"
	}
	return file
}

// look is how a file looks from outside. Two equal looks are one content, in all likelihood.
type look struct {
	changed time.Time
	size    int64
	mode    fs.FileMode
}

func lookAt(file string) look {
	info, err := os.Stat(file)
	if err != nil {
		return look{}
	}
	return look{info.ModTime(), info.Size(), info.Mode()}
}

// watchEvery is how often the policy file is looked at.
const watchEvery = time.Second

// watch puts a changed policy file in force. It waits until the file has looked the same twice:
// a file that is being written may be a good one already, and mean less than it will.
func (a *App) watch(ctx context.Context, tick <-chan time.Time) {
	p := a.paths()
	file := p.Config
	if file == "" {
		file = filepath.Join(p.Data, datafolder.PolicyName)
	}
	for last := a.seen; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		now := lookAt(file)
		if now == a.seen || now != last {
			last = now
			continue
		}
		a.seen = now
		if now == (look{}) {
			a.opts.Logger.Error("the policy file is gone; what it said stays in force until the next start", "file", file)
			continue
		}
		if _, err := a.Reload(ctx); err != nil {
			a.opts.Logger.Error("policy not reloaded; the old one stays in force", "error", fmt.Sprint(err))
		}
	}
}
