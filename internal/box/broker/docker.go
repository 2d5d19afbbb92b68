package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// shipping is one command of docker's. Who may speak to the engine may do anything on this machine, so the client in the chamber does
// not: it speaks to a door that lets through the requests of this one command, about the names that it has.
type shipping struct {
	b    *Broker
	verb string
	own  []string // containers or images
	args []string
}

// enginePort is where the door is in the chamber.
const enginePort = 2375

// engineRequests are the requests of each command: a method, and a path behind the interface's version, in which NAME is one of those
// that the command has and ID one that the engine gave.
var engineRequests = map[string][]string{
	"ps": {"GET /containers/json"}, "images": {"GET /images/json"},
	"logs": {"GET /containers/NAME/json", "GET /containers/NAME/logs", "GET /containers/ID/logs"},
	"stop": {"POST /containers/NAME/stop"}, "start": {"POST /containers/NAME/start"}, "restart": {"POST /containers/NAME/restart"},
	"rm": {"DELETE /containers/NAME"}, "rmi": {"DELETE /images/NAME"},
	"pull": {"POST /images/create"}, "push": {"POST /images/NAME/push"},
}

var (
	engineVersion = regexp.MustCompile(`^/v1\.[0-9]{1,3}(/.*)$`)
	engineID      = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// docker finds out what is done.
func (b *Broker) docker(f outgoing.Form) (*Deed, error) {
	x := &shipping{b: b, verb: f.Verb, args: f.Argv}
	for _, s := range f.Slots {
		if s.Path == "object" || s.Path == "image" || s.Path == "registry" {
			x.own = append(x.own, s.Text)
		}
	}
	if engineRequests[f.Verb] == nil {
		return nil, fmt.Errorf("docker %s: %w", f.Verb, ErrNotHere)
	}
	if b.engine() == "" {
		return nil, fmt.Errorf("docker: there is no engine at its usual place on this machine: %w", ErrNotHere)
	}
	q := Question{Program: "docker", Verb: "submit", Host: "localhost", Port: enginePort, Refs: []Ref{{Name: strings.Join(f.Argv, " ")}}}
	if f.Deed == "read" {
		q.Verb = "look"
	}
	return &Deed{Question: q, run: x.run}, nil
}

// engine is the socket of this machine's engine, or of this user's; empty: there is none.
func (b *Broker) engine() string {
	for _, path := range []string{b.opts.Engine, "/var/run/docker.sock", "/run/user/" + strconv.Itoa(os.Getuid()) + "/docker.sock"} {
		if info, err := os.Stat(path); path != "" && err == nil && info.Mode()&os.ModeSocket != 0 {
			return path
		}
	}
	return ""
}

func (x *shipping) run(ctx context.Context, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	dir, err := os.MkdirTemp("", "tidemark-out-*")
	if err != nil {
		return none, err
	}
	exit, err := x.call(ctx, dir, files)
	return exit, errors.Join(err, os.RemoveAll(dir))
}

func (x *shipping) call(ctx context.Context, dir string, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	settings := filepath.Join(dir, "docker")
	raw, err := x.logins()
	if err == nil {
		err = errors.Join(os.Mkdir(settings, 0o700), os.WriteFile(filepath.Join(settings, "config.json"), raw, 0o600))
	}
	if err != nil {
		return none, err
	}
	env := []string{
		"DOCKER_HOST=tcp://127.0.0.1:" + strconv.Itoa(enginePort), "DOCKER_CONFIG=" + settings, "DOCKER_CLI_HINTS=false",
		"DOCKER_CONTENT_TRUST=0", "NO_PROXY=127.0.0.1",
	}
	c, err := x.b.through(dir, &engineDoor{x: x}, env, nil)
	if err != nil {
		return none, err
	}
	exit, err := c.run(ctx, files, x.args...)
	return exit, errors.Join(err, c.close())
}

// logins are what the owner's settings sign in with at registries, where they hold it themselves: no program is asked.
func (x *shipping) logins() ([]byte, error) {
	var own struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
		Context string `json:"currentContext"`
	}
	raw, err := os.ReadFile(filepath.Join(x.b.opts.Want.Home, ".docker", "config.json"))
	if err == nil {
		err = strictjson.Unmarshal(raw, &own)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) || own.Context != "" && own.Context != "default" {
		return nil, fmt.Errorf("docker: your settings lead elsewhere, or cannot be read: %w", ErrNotHere)
	}
	if x.verb != "push" && x.verb != "pull" {
		own.Auths = nil
	}
	return json.Marshal(map[string]any{"auths": own.Auths})
}

// engineDoor is the way out of the chamber: to the engine, for the requests of one command.
type engineDoor struct {
	x    *shipping
	serv *http.Server
}

// Open opens the door in the chamber.
func (d *engineDoor) Open(n *box.Network) error {
	l, err := n.Listen("127.0.0.1:" + strconv.Itoa(enginePort))
	if err != nil {
		return err
	}
	at := d.x.b.engine()
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", at)
		}},
		Rewrite:       func(p *httputil.ProxyRequest) { p.Out.URL.Scheme, p.Out.URL.Host = "http", "localhost" },
		FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
	}
	d.serv = &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !d.x.lets(r) {
				http.Error(w, `{"message": "only what was asked about is let through"}`, http.StatusForbidden)
				return
			}
			proxy.ServeHTTP(w, r)
		})}
	go func() { _ = d.serv.Serve(l) }() // it ends when it is closed
	return nil
}

// Close closes it, with every connection.
func (d *engineDoor) Close() error {
	if d.serv == nil {
		return nil
	}
	return d.serv.Close()
}

// lets reports whether a request is one of this command's.
func (x *shipping) lets(r *http.Request) bool {
	path := r.URL.Path
	if m := engineVersion.FindStringSubmatch(path); m != nil {
		path = m[1]
	}
	if r.Header.Get("Upgrade") != "" || path != filepath.Clean(path) {
		return false
	}
	what := r.Method + " " + path
	if slices.Contains([]string{"HEAD /_ping", "GET /_ping", "GET /version", "GET /info"}, what) {
		return true
	}
	for _, want := range engineRequests[x.verb] {
		if what == want {
			return x.verb != "pull" || x.pulls(r.URL.Query().Get("fromImage"), r.URL.Query())
		}
		before, after, named := strings.Cut(want, "NAME")
		for _, name := range x.own {
			if named && what == before+untagged(x.verb, name)+after {
				return true
			}
		}
		if before, after, named = strings.Cut(want, "ID"); named {
			id, ok := strings.CutPrefix(what, before)
			id, ok2 := strings.CutSuffix(id, after)
			if ok && ok2 && engineID.MatchString(id) {
				return true
			}
		}
	}
	return false
}

// untagged is an image as a push names it in its path: the tag is beside it.
func untagged(verb, name string) string {
	if at := strings.LastIndex(name, ":"); verb == "push" && at > strings.LastIndex(name, "/") {
		return name[:at]
	}
	return name
}

// pulls reports whether an image that is to be created is the one that is pulled, and is made of nothing else.
func (x *shipping) pulls(from string, query map[string][]string) bool {
	for key := range query {
		if key != "fromImage" && key != "tag" && key != "platform" {
			return false
		}
	}
	return from != "" && slices.ContainsFunc(x.own, func(name string) bool {
		name, _, _ = strings.Cut(name, "@")
		name = untagged("push", name)
		return from == name || from == "docker.io/"+name || from == "docker.io/library/"+name
	})
}
