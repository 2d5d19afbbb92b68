package app

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/afar"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
)

// network is how other machines reach the server. The zero network is not at all.
type network struct {
	cert     *tls.Certificate
	pin      string // of our own key; "": we speak no TLS
	listener net.Listener
}

// close ends a listener that nobody serves yet.
func (n *network) close() error {
	if n.listener == nil {
		return nil
	}
	return n.listener.Close()
}

// openNetwork reads or makes the key with which the server speaks to other machines.
func (a *App) openNetwork() error {
	c := a.config.Server.TLS
	if c == nil {
		return nil
	}
	var pair tls.Certificate
	var err error
	if c.Cert != "" {
		if err := ownKey(c.Key); err != nil {
			return err
		}
		pair, err = tls.LoadX509KeyPair(c.Cert, c.Key)
	} else {
		pair, err = afar.Own(a.opts.Paths.Data, c.Names)
	}
	if err != nil {
		return fmt.Errorf("open server.tls: %w", err)
	}
	a.network.cert = &pair
	if a.network.pin, err = afar.PinOfPair(pair); err != nil {
		return fmt.Errorf("open server.tls: %w", err)
	}
	return nil
}

// ownKey refuses the file of a key that everybody on this machine can read. A group may: that is how keys are handed to services.
func ownKey(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("open server.tls: %w", err)
	}
	if info.Mode().Perm()&0o007 != 0 {
		return fmt.Errorf("open server.tls: every user can read %s (run: chmod o= %s)", file, file)
	}
	return nil
}

// private reports whether only this machine reaches the server.
func (a *App) private() bool { return loopbackOnly(a.address()) && a.config.Server.TLS == nil }

// afar is what the HTTP door must know of it.
func (a *App) afar() httpapi.Afar {
	return httpapi.Afar{Pin: a.network.pin, Address: a.config.Server.Address}
}

// reachable reports whether another machine could join.
func (a *App) reachable() bool { return a.network.pin != "" || a.config.Server.Address != "" }

// listenAfar opens the address for other machines.
func (a *App) listenAfar(ctx context.Context) error {
	if a.network.cert == nil {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.config.Server.TLS.Listen)
	if err != nil {
		return fmt.Errorf("listen for other machines: %w", err)
	}
	a.network.listener = l
	return nil
}

// serveAfar answers other machines. What is said there is said in TLS.
func (a *App) serveAfar() {
	l := a.network.listener
	if l == nil {
		return
	}
	secure := tls.NewListener(l, &tls.Config{
		Certificates: []tls.Certificate{*a.network.cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	})
	go func() {
		if err := a.server.Serve(secure); !errors.Is(err, http.ErrServerClosed) {
			a.opts.Logger.Error("serve other machines", "error", err)
		}
	}()
	a.opts.Logger.Info("listening for other machines", "address", l.Addr().String(), "pin", a.network.pin)
}

// errPlain refuses to have tokens and all that agents do read by whoever is on the way.
func errPlain(address string) error {
	return fmt.Errorf("listen: %s is reached by other machines, and tokens would travel there for everybody to read: leave server.listen "+
		"on 127.0.0.1 and set server.tls for other machines; or, where something before this server speaks TLS for it or the network is "+
		"a container's own, say so: server.plain: true, or serve --plain (docs/deploy.md)", address)
}

// URLs are where other machines reach the server, the first as people should write it.
func (a *App) URLs() []string {
	out := []string{}
	if at := a.config.Server.Address; at != "" {
		out = append(out, at)
	}
	if a.network.pin == "" {
		return out
	}
	port := ""
	if a.network.listener != nil {
		_, port, _ = net.SplitHostPort(a.network.listener.Addr().String())
	}
	for _, name := range a.config.Server.TLS.Names {
		out = append(out, "https://"+net.JoinHostPort(name, port))
	}
	return out
}

// joins lets machines in.
type joins struct{ app *App }

// Invite implements httpapi.Joins. Where the server speaks TLS itself the code holds its key; where something before it does, the
// system's roots of the machine that joins vouch for that.
func (j joins) Invite(ctx context.Context, by, machine string, life time.Duration) (httpapi.Invitation, error) {
	if !j.app.reachable() {
		return httpapi.Invitation{}, httpapi.ErrUnreachable
	}
	code, err := afar.NewCode(j.app.network.pin)
	if err != nil {
		return httpapi.Invitation{}, err
	}
	sum := sha256.Sum256([]byte(code.Secret))
	until, err := j.app.keys.InviteMachine(ctx, by, "http", machine, hex.EncodeToString(sum[:]), life)
	if err != nil {
		return httpapi.Invitation{}, err
	}
	urls := j.app.URLs()
	if code.Pin != "" && j.app.config.Server.Address != "" {
		urls = urls[1:] // the key in the code is ours, and not that of what stands before us
	}
	return httpapi.Invitation{Machine: machine, Code: code.String(), URLs: urls, Expires: until.UTC().Truncate(time.Second)}, nil
}

// Join implements httpapi.Joins. The code is spent first: what fails then takes another one.
func (j joins) Join(ctx context.Context, secret string) (machine, token string, err error) {
	if !strings.HasPrefix(secret, "tmj-") {
		return "", "", approvalproof.ErrCode
	}
	if machine, err = j.app.keys.JoinMachine(ctx, secret, "http"); err != nil {
		return "", "", err
	}
	token, err = j.app.people.AddMachine(ctx, accounts.Actor{By: "machine:" + machine, Via: "http"}, machine)
	return machine, token, err
}

// Keys implements httpapi.Joins.
func (j joins) Keys() [][sha256.Size]byte { return j.app.keys.InvitedKeys() }

// machineOf is the machine whose token it is, or its agent's.
func (a *App) machineOf(token string) (string, bool) {
	p, ok := a.people.Find(token)
	return p.Machine, ok && p.Role == accounts.AgentRole && p.Machine != ""
}
