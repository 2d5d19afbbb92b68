package broker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/relay"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// clustering is one command of kubectl's at the cluster of one context of the owner's settings. They are read as text: of the context
// only the address, the certificates and a token or a key are taken. A program that signs in is run before, outside.
type clustering struct {
	b      *Broker
	to     relay.Known
	own    kubeconfig
	args   []string
	file   string // of the workspace, which is applied; empty: none
	listed []File
	plugin *plugin // what says how the owner signs in; nil: the settings do
}

// plugin is a program of the owner's settings that signs them in.
type plugin struct {
	Version string                         `json:"apiVersion"`
	Command string                         `json:"command"`
	Args    []string                       `json:"args"`
	Env     []struct{ Name, Value string } `json:"env"`
}

// kubeconfig is as much of kubectl's settings as is taken, as kubectl itself writes them for one context.
type kubeconfig struct {
	Current  string        `json:"current-context"`
	Clusters []kubeCluster `json:"clusters"`
	Users    []kubeUser    `json:"users"`
	Contexts []kubeContext `json:"contexts"`
}

type kubeCluster struct {
	Name    string         `json:"name"`
	Cluster map[string]any `json:"cluster"`
}

type kubeUser struct {
	Name string         `json:"name"`
	User map[string]any `json:"user"`
}

type kubeContext struct {
	Name    string         `json:"name"`
	Context map[string]any `json:"context"`
}

// The settings that are known, and all that lead nowhere else and run nothing.
var (
	kubeClusterKnown = []string{"server", "certificate-authority-data", "tls-server-name"}
	kubeUserKnown    = []string{"token", "client-certificate-data", "client-key-data", "username", "password"}
	kubeName         = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:@/-]*$`)
)

// kubectl finds out which cluster is meant.
func (b *Broker) kubectl(ctx context.Context, f outgoing.Form) (*Deed, error) {
	x := &clustering{b: b}
	if err := x.read(ctx, f.Slot("context")); err != nil {
		return nil, fmt.Errorf("kubectl: %w: %w", err, ErrNotHere)
	}
	for rest := f.Argv[1:]; len(rest) > 0; rest = rest[1:] {
		switch name, _, given := strings.Cut(rest[0], "="); {
		case name == "--context":
			if !given {
				rest = rest[1:]
			}
		case name == "-f" || name == "--filename":
			if !given {
				rest = rest[1:]
			}
			x.file = f.Slot("filename")
		default:
			x.args = append(x.args, rest[0])
		}
	}
	q := Question{Program: "kubectl", Verb: "submit", Host: x.to.Host, Port: x.to.Port, Remote: x.own.Current,
		Refs: []Ref{{Name: strings.Join(f.Argv, " ")}}}
	if f.Deed == "read" {
		q.Verb = "look"
	}
	if x.file != "" {
		var err error
		if x.listed, err = b.listed([]string{x.file}, nil); err != nil || len(x.listed) != 1 {
			return nil, fmt.Errorf("kubectl: %s is no file that can be sent: %w", x.file, errors.Join(err, ErrNotHere))
		}
		q.Files = x.listed
	}
	return &Deed{Question: q, Ask: x.file != "", run: x.run}, nil // who ordered it has not seen what the file says by now
}

// read has kubectl write down the settings of one context, in a chamber without a way out, and takes what is known of them.
func (x *clustering) read(ctx context.Context, name string) error {
	own := filepath.Join(x.b.opts.Want.Home, ".kube", "config")
	if len(existing(own)) == 0 {
		return errors.New("you have no settings for it (~/.kube/config)")
	}
	dir, err := os.MkdirTemp("", "tidemark-look-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := x.b.chamber(dir, nil, nil, []string{filepath.Dir(own)})
	if err != nil {
		return err
	}
	defer c.close() // nothing was done in it
	ask := []string{"kubectl", "--kubeconfig=" + own, "config", "view", "--raw", "--minify", "--flatten", "-o", "json"}
	if name != "" {
		ask = append(ask, "--context="+name)
	}
	said, err := c.output(ctx, "", ask...)
	if err != nil {
		return fmt.Errorf("your settings cannot be read: %w", err)
	}
	if err := strictjson.Unmarshal([]byte(said), &x.own); err != nil {
		return errors.New("your settings cannot be read")
	}
	if len(x.own.Clusters) != 1 || len(x.own.Users) != 1 || len(x.own.Contexts) != 1 || !kubeName.MatchString(x.own.Current) {
		return errors.New("your settings name no one cluster and no one to sign in as")
	}
	return x.check()
}

// check refuses settings of a context that are not known, and finds where the cluster is.
func (x *clustering) check() error {
	cluster, user := x.own.Clusters[0].Cluster, x.own.Users[0].User
	for name, value := range cluster {
		if text, ok := value.(string); !ok || text == "" || !slices.Contains(kubeClusterKnown, name) {
			return fmt.Errorf("your settings have %s for this cluster", name)
		}
	}
	if raw, ok := user["exec"]; ok {
		if err := x.program(raw); err != nil {
			return err
		}
		delete(user, "exec")
	}
	for name, value := range user {
		if text, ok := value.(string); !ok || text == "" || !slices.Contains(kubeUserKnown, name) {
			return fmt.Errorf("your settings sign you in with %s", name)
		}
	}
	text, _ := cluster["server"].(string)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || !sshHost.MatchString(u.Hostname()) {
		return errors.New("the cluster has no address that can be read")
	}
	x.to = relay.Known{Host: strings.ToLower(u.Hostname()), Here: true}
	if x.to.Port, err = strconv.Atoi(cmp.Or(u.Port(), "443")); err != nil {
		return errors.New("the cluster has no address that can be read")
	}
	if cluster["tls-server-name"] == nil {
		cluster["tls-server-name"] = u.Hostname() // who it must prove to be; it is met at an address of the box's
	}
	u.Host = "127.0.0.1:" + strconv.Itoa(x.to.Port)
	cluster["server"] = u.String()
	return nil
}

// program takes the owner's program that signs them in: one of this machine's, and none that lies where commands may write.
func (x *clustering) program(raw any) error {
	text, err := json.Marshal(raw)
	if err == nil {
		x.plugin = &plugin{}
		err = json.Unmarshal(text, x.plugin)
	}
	if err != nil || x.plugin.Command == "" {
		return errors.New("what signs you in cannot be read")
	}
	if at := x.plugin.Command; strings.Contains(at, "/") {
		if real, err := filepath.EvalSymlinks(at); err != nil || !filepath.IsAbs(at) || x.b.writable(real) {
			return errors.New("what signs you in lies where commands may write")
		}
		return nil
	}
	for _, dir := range filepath.SplitList(x.b.programs()) {
		path := filepath.Join(dir, x.plugin.Command)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			x.plugin.Command = path
			return nil
		}
	}
	return fmt.Errorf("there is no %s here, which signs you in", x.plugin.Command)
}

// signIn has the owner's program say what signs them in: outside every box, as kubectl has it, and without anything of the workspace.
func (x *clustering) signIn(ctx context.Context) error {
	if x.plugin == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, signTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, x.plugin.Command, x.plugin.Args...) //nolint:gosec // a program of the owner's settings
	cmd.Dir, cmd.WaitDelay = "/", time.Second
	info := `{"apiVersion":"` + x.plugin.Version + `","kind":"ExecCredential","spec":{"interactive":false}}`
	cmd.Env = []string{"HOME=" + x.b.opts.Want.Home, "PATH=" + x.b.programs(), "KUBERNETES_EXEC_INFO=" + info}
	for _, e := range x.plugin.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	out, err := cmd.Output()
	var said struct {
		Status struct {
			Token       string `json:"token"`
			Certificate string `json:"clientCertificateData"`
			Key         string `json:"clientKeyData"`
		} `json:"status"`
	}
	if err == nil {
		err = json.Unmarshal(out, &said)
	}
	if err != nil || said.Status.Token == "" && said.Status.Key == "" {
		return fmt.Errorf("kubectl: %s did not sign you in: %w", filepath.Base(x.plugin.Command), ErrNotHere)
	}
	user := x.own.Users[0].User
	if said.Status.Token != "" {
		user["token"] = said.Status.Token
	}
	if said.Status.Key != "" {
		user["client-certificate-data"], user["client-key-data"] = []byte(said.Status.Certificate), []byte(said.Status.Key)
	}
	return nil
}

func (x *clustering) run(ctx context.Context, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	dir, err := os.MkdirTemp("", "tidemark-out-*")
	if err != nil {
		return none, err
	}
	exit, err := x.call(ctx, dir, files)
	return exit, errors.Join(err, os.RemoveAll(dir))
}

// call has it done in a folder with these settings alone.
func (x *clustering) call(ctx context.Context, dir string, files [3]*os.File) (box.Exit, error) {
	none := box.Exit{Code: box.ExitNoBox}
	if err := x.signIn(ctx); err != nil {
		return none, err
	}
	raw, err := json.Marshal(x.own)
	if err != nil {
		return none, err
	}
	settings := filepath.Join(dir, "settings")
	if err := os.WriteFile(settings, raw, 0o600); err != nil {
		return none, err
	}
	args := slices.Concat([]string{"kubectl", "--kubeconfig=" + settings, "--cache-dir=" + filepath.Join(dir, "cache")}, x.args)
	if x.file != "" {
		to := filepath.Join(dir, "sent", filepath.Base(x.file))
		if err := x.b.copied(x.file, to, x.listed); err != nil {
			return none, err
		}
		args = append(args, "--filename="+to)
	}
	env := []string{
		"KUBECTL_KUBERC=false", "KUBERC=off", "KUBECTL_EXTERNAL_DIFF=/bin/false", "KUBE_EDITOR=/bin/false", "NO_PROXY=127.0.0.1",
	}
	c, err := x.b.around(dir, func(o *relay.Options) { o.Known = &x.to }, env, nil)
	if err != nil {
		return none, err
	}
	exit, err := c.run(ctx, files, args...)
	return exit, errors.Join(err, c.close())
}
