package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/datafolder"
	"github.com/tidemark/tidemark/internal/installation"
	"github.com/tidemark/tidemark/internal/people/accounts"
)

func (e *env) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token [agent|reader]",
		Short: "Show the tokens that may be shown, or make new ones for people",
		Long: `Show the tokens of this data folder. Those of agent and reader are stored in plain text; of
owner, approver and admin there are hashes alone, shown once when they were made: make new ones
with tidemark token new. With a role, that token alone is printed, for scripts.`,
		Example: `  curl -H "Authorization: Bearer $(tidemark token agent)" http://127.0.0.1:8417/v1/policy`,
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(_ *cobra.Command, roles []string) error { return e.showTokens(roles) },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "new",
		Short: "Make new owner, approver and admin tokens, and show them once",
		Long: `Make new owner, approver and admin tokens and show them once; only their hashes are kept.
The agent's stays. A running server takes the new ones at its next start.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return e.renewTokens() },
	})
	cmd.AddCommand(e.namedTokens()...)
	return cmd
}

// namedTokens are the commands about tokens of people's own.
func (e *env) namedTokens() []*cobra.Command {
	var role, agent string
	add := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a token of somebody's own, and show it once",
		Long: `Make a token for one person, so that the log says who did something: what ada does as
approver is recorded as approver:ada. She can use it wherever a token is asked for, and type
it on the console's page of signing in. Only its hash is kept. A running server takes it at
once, and asks for the admin token; where approving takes a proof, use the console's page Keys.

With --role agent it is the token of one agent: the server sets the id of what comes with it, and
refuses what is said to be another's. tidemark install makes one for each agent it installs.`,
		Example: `  tidemark token add ada --role approver
  tidemark token add night-build --role agent --agent night-build
  tidemark token revoke ada`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.addPerson(cmd.Context(), args[0], role, agent) },
	}
	add.Flags().StringVar(&role, "role", "",
		"approver, viewer (the same as reader), admin, agent, or machine (tidemark token invite needs no token)")
	add.Flags().StringVar(&agent, "agent", "", "with --role agent: the id of the agent whose token it is")
	_ = add.MarkFlagRequired("role")
	return []*cobra.Command{
		add,
		e.inviteCommand(),
		{
			Use: "list", Short: "Who has a token of their own", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return e.listPeople(cmd.Context()) },
		},
		{
			Use: "revoke NAME", Short: "Take somebody's token away, at once", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return e.revokePerson(cmd.Context(), args[0]) },
		},
	}
}

type personJSON struct {
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Agent   string    `json:"agent,omitzero"`
	Machine string    `json:"machine,omitzero"`
	Made    time.Time `json:"made"`
}

// madeToken is a token that was just made.
type madeToken struct {
	Name  string `json:"name"`
	Role  string `json:"role"`
	Agent string `json:"agent,omitzero"`
	Token string `json:"token"`
	By    string `json:"by"`
}

func (e *env) addPerson(ctx context.Context, name, role, agent string) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	p, err := e.paths()
	if err != nil {
		return err
	}
	var out madeToken
	switch {
	case role == accounts.AgentRole:
		out, err = e.makeAgentToken(ctx, c, p, name, agent)
	case agent != "":
		err = errors.New("--agent goes with --role agent: the token of a person is no agent's")
	case c != nil:
		err = c.call(ctx, http.MethodPost, "/v1/people", map[string]string{"name": name, "role": role}, &out)
	default:
		token, who, bad := installation.AddPerson(ctx, p, whoami(), name, role)
		out, err = madeToken{who.Name, who.Role, "", token, who.By()}, bad
	}
	if err != nil {
		return fmt.Errorf("add token: %w", err)
	}
	if e.json {
		return e.printJSON(out)
	}
	e.printf("%s\n  shown once; the log will say %s\n", e.ui.word("title", out.Token), out.By)
	return nil
}

// makeAgentToken makes a token that is one agent's. A running server takes the common token of agents for it, which may do more.
func (e *env) makeAgentToken(ctx context.Context, c *client, p datafolder.Paths, name, agent string) (out madeToken, err error) {
	if c == nil {
		token, who, err := installation.AddAgent(ctx, p, whoami(), name, agent)
		return madeToken{who.Name, who.Role, who.Agent, token, who.By()}, err
	}
	common := *c
	common.secret = nil
	if url, _, err := datafolder.Elsewhere(p); err != nil {
		return out, err
	} else if url == "" { // else the token of the machine is the common one of its agents
		tokens, _, err := accounts.LoadTokens(p.Tokens())
		if err != nil {
			return out, err
		}
		common.token = tokens.Agent
	}
	err = common.call(ctx, http.MethodPost, "/v1/agents", map[string]string{"name": name, "agent": agent}, &out)
	return out, err
}

// agentTokens gives each agent that was installed a token of its own, in the data folder where its hook looks. One that cannot be
// made is told: its hook goes on with the common one.
func (e *env) agentTokens(ctx context.Context, names []string) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	for _, name := range names {
		file := shim.TokenFile(p.Data, name)
		if install.Exists(file) {
			continue
		}
		c, err := e.findServer(ctx)
		if err != nil {
			return err
		}
		made, err := e.makeAgentToken(ctx, c, p, name, name)
		if err == nil {
			err = writeSecret(file, made.Token)
		}
		if err != nil && !e.json {
			e.printf("%s %s has no token of its own and uses the common one: %v\n", e.ui.word("warn", "note:"), name, err)
		}
	}
	return nil
}

// writeSecret leaves a file that only this user reads, whole or not at all.
func writeSecret(file, secret string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	next := file + ".new"
	if err := os.WriteFile(next, []byte(secret+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}

func (e *env) listPeople(ctx context.Context) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	out := struct {
		People []personJSON `json:"people"`
	}{People: []personJSON{}}
	if c != nil {
		err = c.call(ctx, http.MethodGet, "/v1/people", nil, &out)
	} else {
		p, bad := e.paths()
		if bad != nil {
			return bad
		}
		list, bad := installation.People(ctx, p)
		for _, who := range list {
			out.People = append(out.People, personJSON{who.Name, who.Role, who.Agent, who.Machine, who.Made})
		}
		err = bad
	}
	if err != nil {
		return fmt.Errorf("list tokens: %w", err)
	}
	if e.json {
		return e.printJSON(out)
	}
	if len(out.People) == 0 {
		e.printf("nobody has a token of their own (tidemark token add NAME --role approver)\n")
		return nil
	}
	var rows [][]cell
	for _, p := range out.People {
		role := strings.TrimSpace(p.Role + " " + p.Agent)
		if p.Machine != "" && p.Agent == "" {
			role = "machine"
		}
		rows = append(rows, []cell{{"title", p.Name}, {"", role}, {"dim", p.Made.Local().Format(time.DateTime)}})
	}
	return e.ui.table(e.out, []string{"NAME", "ROLE", "SINCE"}, rows)
}

func (e *env) revokePerson(ctx context.Context, name string) error {
	c, err := e.findServer(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		err = c.call(ctx, http.MethodDelete, "/v1/people/"+url.PathEscape(name), nil, nil)
	} else {
		p, bad := e.paths()
		if bad != nil {
			return bad
		}
		err = installation.RevokePerson(ctx, p, whoami(), name)
	}
	if err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	if e.json {
		return e.printJSON(map[string]string{"revoked": name})
	}
	e.printf("the token of %s no longer works\n", name)
	return nil
}

func (e *env) showTokens(roles []string) error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	if _, err := os.Stat(p.Tokens()); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("token: %s has none yet (the first start makes them: tidemark serve)", p.Data)
	}
	t, _, err := accounts.LoadTokens(p.Tokens())
	if err != nil {
		return err
	}
	known := map[string]string{"agent": t.Agent, "reader": t.Reader, "owner": t.Owner, "approver": t.Approver, "admin": t.Admin}
	if len(roles) == 1 {
		token, ok := known[roles[0]]
		switch {
		case !ok:
			return fmt.Errorf("token: nobody has the role %q (want agent or reader)", roles[0])
		case token == "" || accounts.Hashed(token):
			return fmt.Errorf("token: of the %s's only a hash is kept: it cannot be shown again (new ones: tidemark token new)", roles[0])
		}
		e.printf("%s\n", token)
		return nil
	}
	if e.json {
		return e.printJSON(map[string]string{"agent": t.Agent, "reader": t.Reader})
	}
	e.printTokens(t)
	e.printf("owner, approver and admin: kept as hashes, shown once when they were made (new ones: tidemark token new)\n")
	return nil
}

func (e *env) renewTokens() error {
	p, err := e.paths()
	if err != nil {
		return err
	}
	if err := p.Create(); err != nil {
		return err
	}
	t, err := accounts.RenewTokens(p.Tokens())
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(t)
	}
	e.printTokens(t)
	e.printf("restart the server: until then it takes the old ones\n")
	return nil
}

// printTokens shows those that are known, which is once.
func (e *env) printTokens(t accounts.Tokens) {
	for _, k := range []struct{ role, token, what string }{
		{"agent", t.Agent, "for hosts and hooks"},
		{"reader", t.Reader, "reads everything, answers nothing"},
		{"owner", t.Owner, "with the agent's token, for integrations that verify the owner's messages"},
		{"approver", t.Approver, "answers questions: tidemark approvals watch asks for it"},
		{"admin", t.Admin, "everything"},
	} {
		if k.token != "" && !accounts.Hashed(k.token) {
			e.printf("  %-9s %s  %s\n", k.role, k.token, k.what)
		}
	}
	e.printf("\n")
}
