// Package machines is how other machines reach a server: the address on which it speaks TLS to them, the codes with which they join,
// and the tokens that they have.
package machines

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/afar"
	"github.com/tidemark/tidemark/internal/config"
	"github.com/tidemark/tidemark/internal/httpapi"
	"github.com/tidemark/tidemark/internal/people/accounts"
	"github.com/tidemark/tidemark/internal/people/approvalproof"
)

// Network is how other machines reach the server. The zero Network is not at all.
type Network struct {
	server   config.Server
	cert     *tls.Certificate
	pin      string // of our own key; "": we speak no TLS
	listener net.Listener
}

// Open reads or makes the key with which the server speaks to other machines.
func Open(data string, server config.Server) (*Network, error) {
	n, c := &Network{server: server}, server.TLS
	if c == nil {
		return n, nil
	}
	var pair tls.Certificate
	var err error
	if c.Cert != "" {
		if err := ownKey(c.Key); err != nil {
			return nil, err
		}
		pair, err = tls.LoadX509KeyPair(c.Cert, c.Key)
	} else {
		pair, err = afar.Own(data, c.Names)
	}
	if err != nil {
		return nil, fmt.Errorf("open server.tls: %w", err)
	}
	n.cert = &pair
	if n.pin, err = afar.PinOfPair(pair); err != nil {
		return nil, fmt.Errorf("open server.tls: %w", err)
	}
	return n, nil
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

// Afar is what the HTTP door must know of it.
func (n *Network) Afar() httpapi.Afar { return httpapi.Afar{Pin: n.pin, Address: n.server.Address} }

// reachable reports whether another machine could join.
func (n *Network) reachable() bool { return n.pin != "" || n.server.Address != "" }

// Listen opens the address for other machines.
func (n *Network) Listen(ctx context.Context) error {
	if n.cert == nil {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.server.TLS.Listen)
	if err != nil {
		return fmt.Errorf("listen for other machines: %w", err)
	}
	n.listener = l
	return nil
}

// Close ends a listener that nobody serves yet.
func (n *Network) Close() error {
	if n.listener == nil {
		return nil
	}
	return n.listener.Close()
}

// Serve answers other machines in the background. What is said there is said in TLS.
func (n *Network) Serve(server *http.Server, logger *slog.Logger) {
	l := n.listener
	if l == nil {
		return
	}
	secure := tls.NewListener(l, &tls.Config{
		Certificates: []tls.Certificate{*n.cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	})
	go func() {
		if err := server.Serve(secure); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("serve other machines", "error", err)
		}
	}()
	logger.Info("listening for other machines", "address", l.Addr().String(), "pin", n.pin)
}

// PlainError refuses to have tokens and all that agents do read by whoever is on the way.
func PlainError(address string) error {
	return fmt.Errorf("listen: %s is reached by other machines, and tokens would travel there for everybody to read: leave server.listen "+
		"on 127.0.0.1 and set server.tls for other machines; or, where something before this server speaks TLS for it or the network is "+
		"a container's own, say so: server.plain: true, or serve --plain (docs/deploy.md)", address)
}

// URLs are where other machines reach the server, the first as people should write it.
func (n *Network) URLs() []string {
	out := []string{}
	if at := n.server.Address; at != "" {
		out = append(out, at)
	}
	if n.pin == "" {
		return out
	}
	port := ""
	if n.listener != nil {
		_, port, _ = net.SplitHostPort(n.listener.Addr().String())
	}
	for _, name := range n.server.TLS.Names {
		out = append(out, "https://"+net.JoinHostPort(name, port))
	}
	return out
}

// Joins lets machines in.
type Joins struct {
	Network *Network
	Proofs  *approvalproof.Keeper
	People  *accounts.Roster
}

var _ httpapi.Joins = Joins{}

// Invite implements httpapi.Joins. Where the server speaks TLS itself the code holds its key; where something before it does, the
// system's roots of the machine that joins vouch for that.
func (j Joins) Invite(ctx context.Context, by, machine string, life time.Duration) (httpapi.Invitation, error) {
	if !j.Network.reachable() {
		return httpapi.Invitation{}, httpapi.ErrUnreachable
	}
	code, err := afar.NewCode(j.Network.pin)
	if err != nil {
		return httpapi.Invitation{}, err
	}
	sum := sha256.Sum256([]byte(code.Secret))
	until, err := j.Proofs.InviteMachine(ctx, by, "http", machine, hex.EncodeToString(sum[:]), life)
	if err != nil {
		return httpapi.Invitation{}, err
	}
	urls := j.Network.URLs()
	if code.Pin != "" && j.Network.server.Address != "" {
		urls = urls[1:] // the key in the code is ours, and not that of what stands before us
	}
	return httpapi.Invitation{Machine: machine, Code: code.String(), URLs: urls, Expires: until.UTC().Truncate(time.Second)}, nil
}

// Join implements httpapi.Joins. The code is spent first: what fails then takes another one.
func (j Joins) Join(ctx context.Context, secret string) (machine, token string, err error) {
	if !strings.HasPrefix(secret, "tmj-") {
		return "", "", approvalproof.ErrCode
	}
	if machine, err = j.Proofs.JoinMachine(ctx, secret, "http"); err != nil {
		return "", "", err
	}
	token, err = j.People.AddMachine(ctx, accounts.Actor{By: "machine:" + machine, Via: "http"}, machine)
	return machine, token, err
}

// Keys implements httpapi.Joins.
func (j Joins) Keys() [][sha256.Size]byte { return j.Proofs.InvitedKeys() }

// Of is the machine whose token it is, or its agent's.
func Of(people *accounts.Roster, token string) (string, bool) {
	p, ok := people.Find(token)
	return p.Machine, ok && p.Role == accounts.AgentRole && p.Machine != ""
}
