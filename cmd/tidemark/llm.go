package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	neturl "net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/base/afar"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/door"
	"github.com/tidemark/tidemark/internal/box/outfit"
	"github.com/tidemark/tidemark/internal/config/load"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

func (e *env) llmCommand() *cobra.Command {
	var listen string
	var upstreams []string
	cmd := &cobra.Command{
		Use:   "llm [--upstream NAME=URL] [-- COMMAND [ARGS...]]",
		Short: "Put the monitor between an agent and its model",
		Long: `Put the monitor between an agent and its model. Uses the server that runs on the data
folder, or starts one, and says how to point clients at it. With a command, runs it with
the usual environment variables set and ends with its exit code.

  tidemark llm -- claude
  tidemark llm --upstream openai=http://127.0.0.1:8080 -- python agent.py
  tidemark llm --upstream mine:anthropic=https://models.example    # adds /llm/mine; without :API it speaks openai`,
		RunE: func(cmd *cobra.Command, args []string) error {
			overrides, err := readUpstreams(upstreams)
			if err != nil {
				return err
			}
			return e.llm(cmd.Context(), listen, overrides, args)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "",
		"address to listen on where no server runs yet (default 127.0.0.1:8417; port 0 picks a free one)")
	cmd.Flags().StringArrayVar(&upstreams, "upstream", nil,
		"ask the models of an upstream somewhere else, or add one: NAME=URL or NAME:API=URL")
	return cmd
}

// readUpstreams reads NAME=URL.
func readUpstreams(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, item := range list {
		name, url, ok := strings.Cut(item, "=")
		if !ok || name == "" || url == "" {
			return nil, fmt.Errorf("--upstream %q is not NAME=URL or NAME:API=URL", item)
		}
		out[name] = strings.TrimRight(url, "/")
	}
	return out, nil
}

func (e *env) llm(ctx context.Context, listen string, upstreams map[string]string, command []string) (err error) {
	url, stop, err := e.llmServer(ctx, listen, upstreams)
	if err != nil {
		return err
	}
	if stop != nil {
		defer func() { err = errors.Join(err, stop()) }()
	}
	if len(command) > 0 {
		e.tellElsewhere(upstreams)
		return e.runWith(ctx, url, command)
	}
	if err := e.pointers(url); err != nil || stop == nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// llmServer finds the running server, or starts one; then stop ends it.
func (e *env) llmServer(ctx context.Context, listen string, upstreams map[string]string) (url string, stop func() error, err error) {
	running, err := e.findServer(ctx)
	if err != nil {
		return "", nil, err
	}
	if p, err := e.paths(); err == nil {
		if away, token, err := datafolder.JoinedTo(p); err == nil && away != nil {
			return e.llmAway(away, token, listen, upstreams)
		}
	}
	if running != nil {
		if listen != "" || len(upstreams) > 0 {
			return "", nil, errors.New("a server runs already: --listen and --upstream are for a new one; " +
				"name upstreams in its policy file (llm.upstreams), or take a data folder of its own: tidemark llm --data FOLDER ...")
		}
		return running.base, nil, nil
	}
	logger, err := e.logger("warn")
	if err != nil {
		return "", nil, err
	}
	p, err := e.paths()
	if err != nil {
		return "", nil, err
	}
	a, err := app.New(ctx, app.Options{Paths: p, Listen: listen, Upstreams: upstreams, Logger: logger})
	if err != nil {
		return "", nil, err
	}
	if url, err = a.Start(ctx); err != nil {
		return "", nil, errors.Join(err, a.Stop(ctx))
	}
	return url, func() error {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return a.Stop(grace)
	}, nil
}

// llmAway is a door on this machine to the models of the server elsewhere that it has joined: clients know neither its key nor our
// token. It is open to this machine alone, while this command runs; whoever asks there is an agent of this machine.
func (e *env) llmAway(away *afar.Server, token, listen string, upstreams map[string]string) (string, func() error, error) {
	if len(upstreams) > 0 {
		return "", nil, fmt.Errorf("this machine has joined %s: name upstreams in the policy file there", away.URL)
	}
	to, err := neturl.Parse(away.URL)
	if err != nil {
		return "", nil, err
	}
	way := httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = to.Host
			r.Out.Header.Set("X-Tidemark-Token", token)
		},
		Transport: away.Client(token, 0).Transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "Tidemark: "+err.Error(), http.StatusBadGateway) // nothing was asked of any model
		},
	}
	addr := cmp.Or(listen, "127.0.0.1:0")
	if host, _, err := net.SplitHostPort(addr); err != nil || !net.ParseIP(host).IsLoopback() {
		return "", nil, fmt.Errorf("--listen %q is not an address of this machine alone (127.0.0.1:PORT)", addr)
	}
	ears, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: own(ears.Addr().String(), &way), ReadHeaderTimeout: time.Minute, ErrorLog: way.ErrorLog}
	go func() { _ = s.Serve(ears) }() // its end is that of the command
	return "http://" + ears.Addr().String(), s.Close, nil
}

// own lets programs of this machine through, and no page of a browser: that names another host, or where it is from.
func own(addr string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != addr || r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" {
			http.Error(w, "Tidemark: this door is for programs of this machine", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// variable is one of the environment.
type variable struct{ name, value string }

// variables point the usual clients at the proxy.
func variables(url string) []variable {
	return []variable{
		{"OPENAI_BASE_URL", url + "/openai/v1"},
		{"OPENAI_API_BASE", url + "/openai/v1"}, // what some clients still read
		{"ANTHROPIC_BASE_URL", url + "/anthropic"},
		{"GOOGLE_GEMINI_BASE_URL", url + "/gemini"},
		{"TIDEMARK_MCP_URL", url + "/mcp"}, // for whoever writes it into a client's settings
	}
}

// tellElsewhere tells of addresses in the environment at which models were asked so far. They are not heeded, because programs and
// repositories set them too; but then the client's key goes to another provider than it did.
func (e *env) tellElsewhere(upstreams map[string]string) {
	for _, v := range []variable{{"OPENAI_BASE_URL", "openai"}, {"ANTHROPIC_BASE_URL", "anthropic"}, {"GOOGLE_GEMINI_BASE_URL", "gemini"}} {
		at, err := neturl.Parse(os.Getenv(v.name))
		if err != nil || at.Host == "" || upstreams[v.value] != "" {
			continue
		}
		if ip := net.ParseIP(at.Hostname()); ip.IsLoopback() && strings.HasPrefix(at.Path, "/"+v.value) {
			continue // this very proxy
		}
		at = &neturl.URL{Scheme: at.Scheme, Host: at.Host, Path: at.Path} // without a password in it
		const text = "tidemark: %s is set to %s and is ignored: %s is asked where the policy file says (llm.upstreams), " +
			"else at its public address. To use yours: tidemark llm --upstream %s=%s\n"
		fmt.Fprintf(e.errOut, text, v.name, at.Host, v.value, v.value, at)
	}
}

// pointers says how to point clients at the proxy.
func (e *env) pointers(url string) error {
	type pointer struct {
		Client string `json:"client"`
		Set    string `json:"set"`
	}
	list := []pointer{
		{"OpenAI SDKs, LangChain, Codex", "export OPENAI_BASE_URL=" + url + "/openai/v1"},
		{"Anthropic SDKs, Claude Code", "export ANTHROPIC_BASE_URL=" + url + "/anthropic"},
		{"Google GenAI SDKs, Gemini CLI", "export GOOGLE_GEMINI_BASE_URL=" + url + "/gemini"},
		{"OpenCode", `opencode.json: "provider": {"openai": {"options": {"baseURL": "` + url + `/openai/v1"}}}`},
		{"OpenClaw", `openclaw.json: models.providers.<id>.baseUrl = "` + url + `/openai/v1"`},
		{"others, by llm.upstreams", url + "/llm/<name>/…"},
		{"MCP clients, by mcp.servers", url + "/mcp/<name>"},
	}
	if e.json {
		return e.printJSON(map[string]any{"url": url, "clients": list})
	}
	e.printf("models through %s (keys pass through unless the policy file names a keyEnv)\n\n", url)
	for _, p := range list {
		e.printf("  %-30s  %s\n", p.Client, p.Set)
	}
	e.printf("\n  run one at once:                tidemark llm -- claude\n")
	return nil
}

// exitStatus ends the program with the exit code of a command it ran.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("the command ended with %d", int(s)) }

// runWith runs a command whose models are asked through the proxy, until it ends by itself: what Ctrl-C means is its own affair.
func (e *env) runWith(ctx context.Context, url string, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // running it is what was asked for
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.in, e.out, e.errOut
	cmd.Env = os.Environ()
	for _, v := range variables(url) {
		cmd.Env = append(cmd.Env, v.name+"="+v.value)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it may clean up first
	cmd.WaitDelay = 10 * time.Second
	in, ok := e.in.(*os.File)
	typed := ok && term.IsTerminal(int(in.Fd())) // then whoever reads there hears Ctrl-C too
	started := make(chan struct{})
	pass := func(s os.Signal) {
		if <-started; cmd.Process != nil && (s != os.Interrupt || !typed) {
			_ = cmd.Process.Signal(s) // one that has ended needs none
		}
	}
	minding.Store(&pass)
	defer minding.Store(nil)
	err := cmd.Start()
	if close(started); err == nil {
		err = cmd.Wait()
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return exitStatus(128 + int(status.Signal())) // as shells have it
		}
		return exitStatus(ended.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	return nil
}

// whole fits a box for an agent that runs in it as a whole: its models and MCP servers are asked through the monitor, which is found or
// started, and it holds no key. What is returned ends what was started.
func (e *env) whole(ctx context.Context, w *box.Want, agent string) (stop func() error, err error) {
	listen := ""
	if p, err := e.paths(); err == nil {
		if away, _, err := datafolder.JoinedTo(p); err != nil || away != nil {
			const text = "this machine has joined another server: an agent that runs in a box as a whole needs one here " +
				"(without a box: tidemark llm -- %s; with its commands in boxes: tidemark install %s)"
			return nil, errors.Join(err, fmt.Errorf(text, agent, agent))
		}
	}
	if running, err := e.findServer(ctx); err == nil && running == nil {
		listen = "127.0.0.1:0" // the door alone needs to know where it is
	}
	server, stop, err := e.llmServer(ctx, listen, nil)
	if stop == nil {
		stop = func() error { return nil }
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	if err != nil {
		return stop, err
	}
	p, err := e.paths()
	if err != nil {
		return stop, err
	}
	tokens, _, err := accounts.LoadTokens(p.Tokens())
	if err != nil {
		return stop, err
	}
	o := door.Options{
		Server: server, Sign: "sk-box-" + rand.Text(), Token: tokens.Agent, Session: "run:" + rand.Text()[:12],
		Transport: &http.Transport{DialContext: serverproof.Dialer(tokens.Agent, server), DisableCompression: true},
	}
	var spared []string
	if o.Keys, spared = outfit.Keys(os.Getenv); len(spared) > 0 {
		fmt.Fprintf(e.errOut, "tidemark: the key for %s is not used, because an address is set with it: name that in llm.upstreams\n",
			strings.Join(spared, ", "))
	}
	if o.Models, err = door.WantsToken(ctx, server, o.Transport); err != nil {
		return stop, err
	}
	names, err := load.MCPReached(p)
	if err != nil {
		return stop, err
	}
	given, err := outfit.For(agent, outfit.Around{Base: door.Base, Sign: o.Sign, Servers: names, Home: w.Home})
	if err != nil {
		return stop, err
	}
	given.Into(w)
	w.Out, err = door.New(o)
	return stop, err
}
