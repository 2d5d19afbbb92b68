package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"

	"github.com/tidemark/tidemark/internal/agents/pulse"
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

// watchHosts looks whether hosts still ask, and whether hooks and settings are as they were installed.
func (a *App) watchHosts() *pulse.Watch {
	return &pulse.Watch{
		Book: &a.pulse, Alarms: &a.alarms, Tell: a.moved, Logger: a.opts.Logger,
		Changed: func() []string { return settings.Changed(a.opts.Paths.Data) },
		Close: func(ctx context.Context, session, why string) error {
			return a.Monitor.Close(ctx, engine.Ref{Session: session}, why)
		},
	}
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
