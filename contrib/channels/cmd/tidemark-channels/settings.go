package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/tidemark/tidemark/contrib/channels/bridge"
	"github.com/tidemark/tidemark/contrib/channels/discord"
	"github.com/tidemark/tidemark/contrib/channels/ntfy"
	"github.com/tidemark/tidemark/contrib/channels/slack"
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/people/webhook"
)

// settings are what the file says.
type settings struct {
	server, listen string
	cert, key      string          // files of TLS
	Secret         endpoint.Secret // exported, so that it prints as a mark
	proof          string          // file of the key that signs answers

	slack   *slack.Options
	discord *discord.Options
	ntfy    *ntfy.Options
}

// parse reads the file. The sections of the chats are those that stood in the server's file before.
func parse(file string, src []byte, env func(string) (string, bool)) (*settings, configfile.Faults) {
	root, faults := configfile.Parse(file, src)
	if root == nil {
		return nil, faults
	}
	d := &configfile.Decoder{}
	r := &endpoint.Reader{Decoder: d, Env: env}
	s := &settings{listen: "127.0.0.1:8420"}
	text := func(to *string) func(*configfile.Node) {
		return func(n *configfile.Node) { *to, _ = d.Text(n) }
	}
	d.Fields(root, map[string]func(*configfile.Node){
		"server": text(&s.server),
		"listen": text(&s.listen),
		"tls": func(n *configfile.Node) {
			d.Fields(n, map[string]func(*configfile.Node){"cert": text(&s.cert), "key": text(&s.key)})
			r.Needs(n, "cert", "key")
		},
		"secret":  func(n *configfile.Node) { s.Secret, _ = r.Secret(n) },
		"proof":   text(&s.proof),
		"slack":   func(n *configfile.Node) { s.slack = slack.Read(r, n) },
		"discord": func(n *configfile.Node) { s.discord = discord.Read(r, n) },
		"ntfy":    func(n *configfile.Node) { s.ntfy = ntfy.Read(r, n) },
	})
	s.check(d, r, root)
	faults = append(faults, d.Faults...)
	faults.Sort()
	return s, faults
}

func (s *settings) check(d *configfile.Decoder, r *endpoint.Reader, root *configfile.Node) {
	r.Needs(root, "server", "secret")
	if n := root.Get("secret"); n != nil && s.Secret != "" && len(s.Secret) < webhook.MinSecret {
		d.Errorf(n.Pos, "the secret needs %d characters", webhook.MinSecret)
	}
	if n := root.Get("server"); n != nil {
		if u, err := outbound.URL(s.server); err != nil || outbound.Exposed(u) != nil {
			d.Errorf(n.Pos, "server: want https, or http to this machine")
		}
	}
	if host, _, err := net.SplitHostPort(s.listen); err != nil || s.cert == "" && !outbound.Local(host) {
		d.Hintf(root.Pos, "tls: {cert: FILE, key: FILE}, or something before it that speaks TLS", "listen: %q is beyond this machine, without TLS", s.listen)
	}
	for _, n := range []*configfile.Node{root.Get("slack"), root.Get("discord")} {
		if n != nil && s.proof == "" {
			d.Hintf(n.Pos, "tidemark-channels key FILE makes one; its public part goes into the server's file (channels.webhook.key)",
				"%s says who answered, so its answers are signed by a key: proof names its file", n.Path)
		}
	}
	if s.slack == nil && s.discord == nil && s.ntfy == nil {
		d.Hintf(root.Pos, "slack, discord or ntfy", "there is no chat to ask in")
	}
}

// bridges makes one for each chat.
func (s *settings) bridges(logger *slog.Logger) (map[string]*bridge.Bridge, error) {
	proof, err := readKey(s.proof)
	if err != nil {
		return nil, err
	}
	out := map[string]*bridge.Bridge{}
	add := func(name string, chat bridge.Chat, denyOnly bool, err error) error {
		if err != nil {
			return err
		}
		out[name], err = bridge.New(bridge.Options{
			Name: name, Server: s.server, Secret: string(s.Secret), Proof: proof, Chat: chat, DenyOnly: denyOnly, Logger: logger,
		})
		return err
	}
	if o := s.slack; o != nil {
		o.Logger = logger
		c, err := slack.New(*o)
		if err := add("slack", c, false, err); err != nil {
			return nil, err
		}
	}
	if o := s.discord; o != nil {
		o.Logger = logger
		c, err := discord.New(*o)
		if err := add("discord", c, false, err); err != nil {
			return nil, err
		}
	}
	if o := s.ntfy; o != nil {
		o.Logger = logger
		c, err := ntfy.New(*o)
		if err := add("ntfy", c, !o.Approve, err); err != nil {
			return nil, err
		}
	}
	return out, nil
}

const pemType = "PRIVATE KEY"

// makeKey writes a new key to a file that is not there yet, and returns its public part.
func makeKey(file string) (public string, err error) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	err = pem.Encode(f, &pem.Block{Type: pemType, Bytes: raw})
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return hex.EncodeToString(pub), nil
}

// readKey reads it; none where no file is named.
func readKey(file string) (ed25519.PrivateKey, error) {
	if file == "" {
		return nil, nil
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	block, _ := pem.Decode(src)
	if block == nil || block.Type != pemType {
		return nil, fmt.Errorf("proof: %s holds no key: tidemark-channels key FILE makes one", file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("proof: %s holds no key of the kind Ed25519", file)
	}
	return key, nil
}
