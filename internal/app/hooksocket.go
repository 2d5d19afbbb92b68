package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/peer"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/httpapi"
)

// peersFor knows the processes behind hooks, where the system tells them and the data folder can have a socket.
func peersFor(p datafolder.Paths) httpapi.Peers {
	if !peer.Known || !peer.Fits(p.Data) {
		return nil
	}
	return &peer.Book{Children: p.ReadingPrograms()}
}

// The times of looking whether hosts still ask.
const (
	pulseEvery = 5 * time.Second
	pulseGrace = 15 * time.Second // hooks and records are written side by side

	installedEvery = time.Minute
)

// watchHosts closes sessions whose host has stopped asking, and tells people so; and it tells them when a hook or the settings of an
// agent are no longer as they were installed. Tell wakes the channels.
func (a *App) watchHosts(ctx context.Context, tick <-chan time.Time, tell func()) {
	looked := time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick:
			a.hearHosts(ctx, now, tell)
			if now.Sub(looked) >= installedEvery {
				looked = now
				a.lookAtHooks(now, tell)
			}
		}
	}
}

// hearHosts closes the sessions of hosts that have stopped asking.
func (a *App) hearHosts(ctx context.Context, now time.Time, tell func()) {
	for _, s := range a.pulse.Look(now, pulseGrace) {
		a.opts.Logger.Error("a host has stopped asking; its session is closed to acts", "session", s.Session, "reason", s.String())
		if err := a.Monitor.Close(ctx, engine.Ref{Session: s.Session}, s.String()); err != nil {
			a.opts.Logger.Error("close session", "session", s.Session, "error", err)
		}
		if a.alarms.Raise(s.Session, s.String(), now) {
			tell()
		}
	}
}

// lookAtHooks tells of hooks and settings that are not as they were installed, and no longer of those that are again.
func (a *App) lookAtHooks(now time.Time, tell func()) {
	wrong, news := unhooked(a.opts.Paths.Data), false
	for _, why := range wrong {
		if a.alarms.Raise(installed, why, now) {
			news = true
			a.opts.Logger.Error("what watches an agent is not as it was installed", "reason", why, "look", "tidemark doctor")
		}
	}
	news = a.alarms.Still(installed, wrong) || news
	if news {
		tell()
	}
}

// installed is what alarms about hooks and settings are about.
const installed = "what watches your agents"

// unhooked says which of the programs and settings that were installed are not as they were.
func unhooked(data string) []string {
	names, err := filepath.Glob(filepath.Join(data, "installed", "*.json"))
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, name := range names {
		r, err := settings.ReadRecord(name)
		if err != nil {
			out = append(out, fmt.Sprintf("%s cannot be read: %v", name, err))
			continue
		}
		if why := replaced(r); why != "" {
			out = append(out, why)
		}
		out = append(out, settings.Reader{}.Compare(r)...)
	}
	return out
}

// replaced says what is wrong with a hook program; "" is good news. Its bytes are looked at, since a copy can have any time.
func replaced(r *settings.Record) string {
	if r.Hook == "" {
		return ""
	}
	info, err := os.Stat(r.Hook)
	switch {
	case err != nil:
		return fmt.Sprintf("%s: the hook program is gone: %v", r.Agent, err)
	case info.Mode()&0o111 == 0:
		return fmt.Sprintf("%s: %s cannot be started any more", r.Agent, r.Hook)
	}
	raw, err := os.ReadFile(r.Hook)
	if err != nil || settings.Hash(raw) != r.HookHash {
		return fmt.Sprintf("%s: %s is not the program that was installed (after an update: tidemark install %s)", r.Agent, r.Hook, r.Agent)
	}
	return ""
}

// unheld reports whether words count that come without a ticket: as the file says, else as the data folder was made.
func (a *App) unheld() bool {
	switch a.config.Server.Tickets {
	case "required":
		return false
	case "optional":
		return true
	}
	return a.Tokens.Tickets != "required"
}

// listenForHooks opens the socket on which the kernel says whose hook speaks. Without one hooks use the address, and prove nothing.
func (a *App) listenForHooks(ctx context.Context) error {
	if !peer.Known || !peer.Fits(a.opts.Paths.Data) {
		return nil
	}
	path := peer.Socket(a.opts.Paths.Data)
	if err := datafolder.IgnoreMissing(os.Remove(path)); err != nil { // of a server that was killed: ours is the only one of the folder
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	a.server.ConnContext = peer.With
	go func() {
		if err := a.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			a.opts.Logger.Error("serve hooks", "error", err)
		}
	}()
	return nil
}
