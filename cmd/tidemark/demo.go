package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tidemark/tidemark/internal/app"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/mcp/demoservers"
	"github.com/tidemark/tidemark/internal/mcp/judge"
)

func (e *env) demoCommand() *cobra.Command {
	var once bool
	var listen string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: real server, temporary log, the stories it was built for",
		Long: `Play the stories Tidemark was built for through the real API of a server of its own, with
the shipped policy (or that of --config), and print each question as its owner would read it.
On a terminal the server stays up until Ctrl-C; in a pipe, and with --once, it ends.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.demo(cmd.Context(), listen, once) },
	}
	cmd.Flags().BoolVar(&once, "once", false, "end after the stories instead of staying up")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address to listen on")
	cmd.AddCommand(&cobra.Command{
		Use: "server NAME", Short: "One of the MCP servers of the last story: pages or mail", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return demoservers.Serve(args[0], e.in, e.out) },
	})
	return cmd
}

func (e *env) demo(ctx context.Context, listen string, once bool) (err error) {
	dir, err := os.MkdirTemp("", "tidemark-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p := datafolder.Paths{Data: dir, Config: e.config} // without a file: the shipped policy
	a, err := app.New(ctx, app.Options{Paths: p, Listen: listen, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return err
	}
	defer func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, a.Stop(grace))
	}()
	base, err := a.Start(ctx)
	if err != nil {
		return err
	}
	d := &demo{env: e, app: a, paths: p, client: &client{base: base, token: a.Tokens.Admin, http: straight(a.Tokens.Agent, base)}}
	if err := d.play(ctx); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if f, ok := isTerminal(e.out); once || !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	if !e.json {
		e.printf("The server stays up at %s (admin token %s). Ctrl-C ends it and removes its log.\n", base, a.Tokens.Admin)
		e.printf("Try: curl -H 'Authorization: Bearer %s' '%s/v1/sessions/demo-1/turns/latest/graph?format=svg' > turn.svg\n",
			a.Tokens.Admin, base)
	}
	<-ctx.Done()
	return nil
}

// demo plays stories through the HTTP hook API, as an agent's host would.
type demo struct {
	*env
	app     *app.App
	paths   datafolder.Paths
	client  *client
	session string
	taint   string
	calls   int
	out     []played
}

// played is one step's outcome, for --json.
type played struct {
	Session string `json:"session"`
	Story   string `json:"story"`
	Tool    string `json:"tool,omitempty"`
	Say     string `json:"say,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Taint   string `json:"taint"`
	Notice  string `json:"notice,omitempty"`
}

// answered is what the hook API adds to a result object.
type answered struct {
	Block    bool `json:"block"`
	Tidemark struct {
		Verdict string `json:"verdict"`
		Kind    string `json:"kind"`
		Rule    string `json:"rule"`
		Taint   string `json:"taint"`
		Notice  string `json:"notice"`
		Hello   struct {
			Ticket string `json:"ticket"`
		} `json:"hello"`
		Approval *struct {
			ID   string `json:"id"`
			Code string `json:"code"`
		} `json:"approval"`
		Reasons []struct {
			Text string `json:"text"`
		} `json:"reasons"`
	} `json:"tidemark"`
}

func (d *demo) play(ctx context.Context) error {
	for i, s := range stories() {
		d.session, d.taint = fmt.Sprintf("demo-%d", i+1), "owner"
		d.say("\n%s\n%s\n", d.ui.word("title", fmt.Sprintf("%d. %s", i+1, s.title)), d.ui.word("dim", "   "+s.tells))
		for _, st := range s.steps {
			if err := d.step(ctx, s, st); err != nil {
				return err
			}
		}
		if err := d.finish(ctx); err != nil {
			return err
		}
	}
	if err := d.servers(ctx, len(stories())+1); err != nil {
		return err
	}
	if d.json {
		return d.printJSON(map[string]any{"url": d.client.base, "steps": d.out})
	}
	d.printf("\n%s\n", d.ui.word("title", "Where it came from: the first story's turn"))
	g, err := d.app.Monitor.Graph(ctx, "demo-1", "turn-1")
	if err != nil {
		return err
	}
	return d.drawGraph(g, "text")
}

// say prints for people only.
func (d *demo) say(format string, args ...any) {
	if !d.json {
		d.printf(format, args...)
	}
}

func (d *demo) step(ctx context.Context, s story, st step) error {
	if st.say != "" {
		return d.message(ctx, s, st.say)
	}
	a, err := d.call(ctx, st)
	if err != nil {
		return err
	}
	d.show(s, st, a)
	if err := d.question(ctx, st, a); err != nil {
		return err
	}
	if a.Block && st.after == "approve" && a.Tidemark.Approval != nil {
		if err := d.message(ctx, s, fmt.Sprintf(".approve %s %s", st.tool, a.Tidemark.Approval.Code)); err != nil {
			return err
		}
		if a, err = d.call(ctx, st); err != nil {
			return err
		}
		d.show(s, st, a)
	}
	if a.Block {
		return nil
	}
	id := fmt.Sprintf("call-%d", d.calls)
	after, err := d.hook(ctx, "after_tool_call", map[string]any{
		"toolName": st.tool, "toolCallId": id, "params": strictjson.Value(st.args), "result": st.result,
	})
	if err != nil {
		return err
	}
	if now := after.Tidemark.Taint; now != d.taint {
		d.say("%s context %s -> %s\n", strings.Repeat(" ", 12), d.ui.as(d.taint), d.ui.as(now))
		d.taint = now
	}
	return nil
}

func (d *demo) call(ctx context.Context, st step) (answered, error) {
	if _, err := d.hook(ctx, "before_llm_call", map[string]any{
		"messages": []any{}, "systemPrompt": "", "model": "demo", "iteration": 0, "tools": []any{map[string]any{"name": st.tool}},
	}); err != nil {
		return answered{}, err
	}
	d.calls++
	return d.hook(ctx, "before_tool_call", map[string]any{
		"toolName": st.tool, "toolCallId": fmt.Sprintf("call-%d", d.calls), "params": strictjson.Value(st.args),
	})
}

func (d *demo) message(ctx context.Context, s story, text string) error {
	a, err := d.hook(ctx, "message_received", map[string]any{"from": "owner", "content": text})
	if err != nil {
		return err
	}
	d.say("  owner     %q\n", text)
	if a.Tidemark.Notice != "" {
		d.say("%s %s\n", strings.Repeat(" ", 12), a.Tidemark.Notice)
	}
	d.out = append(d.out, played{Session: d.session, Story: s.title, Say: text, Taint: a.Tidemark.Taint, Notice: a.Tidemark.Notice})
	return nil
}

func (d *demo) show(s story, st step, a answered) {
	t := a.Tidemark
	outcome := map[string]string{"allow": "allowed", "confine": "boxed", "confirm": "asked", "deny": "denied"}[t.Verdict]
	d.say("  %-16s %-62s %s\n", st.tool, st.args, d.ui.word(t.Verdict, outcome))
	if a.Block {
		d.say("%s rule %s", strings.Repeat(" ", 12), t.Rule)
		if len(t.Reasons) > 0 {
			d.say(": %s", t.Reasons[0].Text)
		}
		d.say("\n")
	}
	d.out = append(d.out, played{
		Session: d.session, Story: s.title, Tool: st.tool,
		Verdict: t.Verdict, Kind: t.Kind, Rule: t.Rule, Taint: t.Taint,
	})
}

// question prints what the owner reads about a held call, on every surface alike.
func (d *demo) question(ctx context.Context, st step, a answered) error {
	if !a.Block || a.Tidemark.Approval == nil {
		return nil
	}
	open, err := d.app.Monitor.Questions(ctx)
	if err != nil {
		return err
	}
	for i := len(open) - 1; i >= 0; i-- {
		if q := &open[i]; q.ID == a.Tidemark.Approval.ID {
			for line := range strings.Lines(q.Text()) {
				d.say("    | %s\n", strings.TrimRight(line, "\n"))
			}
		}
	}
	return nil
}

// servers is the last story: two MCP servers, each a process behind a relay of its own, as an agent starts them.
func (d *demo) servers(ctx context.Context, n int) (err error) {
	s := story{title: "A page read through one MCP server, a mail through another"}
	d.session, d.taint = fmt.Sprintf("demo-%d", n), "owner"
	const tells = "   Each server is a process of its own behind the gateway, which does not see your messages: " +
		"what one server brought counts at the other too."
	d.say("\n%s\n%s\n", d.ui.word("title", fmt.Sprintf("%d. %s", n, s.title)), d.ui.word("dim", tells))
	clients := map[string]*demoservers.Client{}
	for _, name := range []string{"mail", "pages"} {
		client, stop, err := d.relay(ctx, name)
		if err != nil {
			return err
		}
		defer stop()
		clients[name] = client
	}
	for _, st := range []step{
		{tool: "mail__send_mail", args: `{"to":"bob@work.example","body":"On my way."}`},
		{tool: "pages__read_page", args: `{"url":"https://shop.example"}`},
		{tool: "mail__send_mail", args: `{"to":"sales@rival.example","body":"The customer list."}`},
	} {
		server, name, _ := strings.Cut(st.tool, "__")
		text, failed, err := clients[server].Call(name, st.args)
		if err != nil {
			return err
		}
		a := answered{Block: failed}
		if a.Tidemark.Verdict = "allow"; failed {
			a.Tidemark.Verdict = "confirm"
			_, rule, _ := strings.Cut(text, "\nRule: ")
			a.Tidemark.Rule, _, _ = strings.Cut(rule, " ")
		}
		view, err := d.app.Monitor.View(ctx, d.session)
		if err != nil {
			return err
		}
		a.Tidemark.Taint = view.Taint.Level.String()
		d.show(s, st, a)
		if now := a.Tidemark.Taint; now != d.taint {
			d.say("%s context %s -> %s\n", strings.Repeat(" ", 12), d.ui.as(d.taint), d.ui.as(now))
			d.taint = now
		}
	}
	return nil
}

// relay starts this program as the relay before one of its own servers.
func (d *demo) relay(ctx context.Context, name string) (*demoservers.Client, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	// Nobody is there to answer: what is held is said to be so at once. The policy is the server's.
	file := filepath.Join(d.paths.Data, "relay.yaml")
	if err := os.WriteFile(file, []byte("mcp: {wait: 0s}\n"), 0o600); err != nil {
		return nil, nil, err
	}
	args := []string{"mcp", "--data", d.paths.Data, "--config", file, "--name", name, "--", self, "demo", "server", name}
	cmd := exec.CommandContext(ctx, self, args...) //nolint:gosec // it is this program
	cmd.Env = append(os.Environ(), judge.SessionVariable+"="+d.session)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop := func() {
		_ = in.Close() // it ends then
		_ = cmd.Wait()
	}
	client, err := demoservers.Connect(out, in)
	if err != nil {
		stop()
	}
	return client, stop, err
}

func (d *demo) finish(ctx context.Context) error {
	_, err := d.hook(ctx, "before_response_emit", map[string]any{"content": "Done.", "sessionKey": d.session})
	return err
}

func (d *demo) hook(ctx context.Context, name string, event map[string]any) (answered, error) {
	event["sessionKey"] = d.session
	var a answered
	err := d.client.call(ctx, http.MethodPost, "/v1/hooks/"+url.PathEscape(name), map[string]any{
		"event": event,
		"ctx": map[string]any{
			"sessionKey": d.session, "agentId": "demo", "messageProvider": "demo", "senderId": "owner", "senderIsOwner": true,
		},
	}, &a)
	return a, err
}
