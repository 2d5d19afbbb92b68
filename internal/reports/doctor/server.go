package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Tokens are the bearer tokens as the data folder has them: those of people as hashes.
type Tokens struct{ Agent, Reader, Owner, Approver, Admin string }

// Server is where a server says it listens, and what to ask it with.
type Server struct {
	URL      string // "": none has announced itself
	Fault    error  // why the announcement could not be read
	Tokens   Tokens
	TokenErr error  // why the tokens could not be read
	Tickets  bool   // words count only with the session's ticket
	Unseen   string // why nobody can look whose hook speaks; "": somebody can
	Version  string // of this program
	Memory   string // what sessions may take in memory; "": nobody says
	// OnDisk is the policy a server would have that started now.
	OnDisk func() (Policy, error)
	// Away asks the server on another machine that this one has joined whether it is there; nil: it has joined none.
	Away func(ctx context.Context) error
}

// Policy is what a server judges by, and where it came from.
type Policy struct {
	Version  string `json:"version"`
	File     string `json:"file"`     // "": the shipped one
	Sections string `json:"sections"` // identifies what takes effect only at a start
}

// Part is one of those the monitor asks.
type Part struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fault  string `json:"fault"`
}

// Host is a program whose plugin gave a sign of life.
type Host struct {
	ID            string   `json:"id"`
	Host          string   `json:"host"`
	Version       string   `json:"version"`
	PluginVersion string   `json:"pluginVersion"`
	Hooks         []string `json:"hooks"`
	Age           int64    `json:"ageSeconds"`
	Silent        bool     `json:"silent"`
}

// Status is what the server says about itself.
type Status struct {
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Policy  *Policy   `json:"policy"` // nil: a server that does not say
	Parts   []Part    `json:"parts"`
	Hosts   []Host    `json:"hosts"`
	Proof   string    `json:"proof"`  // what approving takes besides a token; "": nothing
	Memory  *Memory   `json:"memory"` // nil: a server that does not say
}

// Memory is how conversations came back that were not in memory, since the server started.
type Memory struct {
	Held    int64  `json:"held"` // bytes that sessions take
	Resumed uint64 `json:"resumed"`
	Rebuilt uint64 `json:"rebuilt"`
}

// Ask gets the server's status; nil where there is none to be had.
func (s Server) Ask(ctx context.Context) *Status {
	if s.URL == "" || s.TokenErr != nil {
		return nil
	}
	var v Status
	if err := newClient(s.URL, s.Tokens.Reader, s.Tokens.Agent).call(ctx, http.MethodGet, "/v1/status", nil, &v); err != nil {
		return nil
	}
	return &v
}

const startServer = "tidemark serve"

// CheckServer looks whether a server answers, can decide, and is this version.
func CheckServer(s Server) Check {
	return Check{Name: "server", Run: func(ctx context.Context) []Finding {
		f := found{about: "server"}
		switch {
		case s.Fault != nil:
			f.add(Broken, "running", s.Fault.Error(), startServer)
			return f.list
		case s.Away != nil:
			if err := s.Away(ctx); err != nil {
				f.add(Broken, "running", fmt.Sprintf("%s, which this machine has joined: %v; hooked agents are blocked", s.URL, err),
					"ask whoever runs it; tidemark leave and tidemark join begin anew")
			} else {
				f.add(Good, "running", s.URL+", which this machine has joined, answers and proves itself", "")
			}
			return f.list
		case s.URL == "":
			f.add(Broken, "running", "no server runs on this data folder; hooked agents are blocked until one does", startServer)
			return f.list
		}
		c := newClient(s.URL, "", s.Tokens.Agent)
		if err := c.call(ctx, http.MethodGet, "/healthz", nil, nil); err != nil {
			f.add(Broken, "running", fmt.Sprintf("%s cannot be reached: %v; hooked agents are blocked", s.URL, err), startServer)
			return f.list
		}
		f.add(Good, "running", s.URL+" answers", "")
		if err := c.call(ctx, http.MethodGet, "/readyz", nil, nil); err != nil {
			f.add(Broken, "ready", "it cannot decide: "+err.Error(), "see its own messages; every call is refused until then")
		} else {
			f.add(Good, "ready", "it has a policy and can write its log", "")
		}
		if s.Memory != "" {
			f.add(Good, "memory", s.Memory, "")
		}
		s.version(ctx, &f)
		s.policy(ctx, &f)
		s.memory(ctx, &f)
		return f.list
	}}
}

// manyRebuilt is from how many conversations on it is told that they come back from the log.
const manyRebuilt = 1000

// memory tells whether sessions have the room that they need.
func (s Server) memory(ctx context.Context, f *found) {
	v := s.Ask(ctx)
	if v == nil || v.Memory == nil {
		return
	}
	m := v.Memory
	words := fmt.Sprintf("sessions take %d MB; %d conversations came back from checkpoints, %d were rebuilt from the log",
		m.Held>>20, m.Resumed, m.Rebuilt)
	if m.Rebuilt >= manyRebuilt && m.Rebuilt > m.Resumed {
		f.add(Open, "memory", words+", which makes calls slow", "raise server.sessionMemoryMB, or server.checkpointMB, in the policy file")
		return
	}
	f.add(Good, "memory", words, "")
}

// policy holds what is in force against the file.
func (s Server) policy(ctx context.Context, f *found) {
	v := s.Ask(ctx)
	if v == nil || v.Policy == nil || s.OnDisk == nil {
		return
	}
	there := v.Policy
	now, err := s.OnDisk()
	if err != nil {
		f.add(Broken, "policy", fmt.Sprintf("the file cannot be used; the server goes on with version %s: %s",
			there.Version, line(err.Error())), "tidemark policy check")
		return
	}
	switch {
	case there.Version != now.Version:
		f.add(Broken, "policy", fmt.Sprintf("version %s of %s is in force, and %s says %s",
			there.Version, named(there.File), named(now.File), now.Version), "tidemark policy reload")
	case there.Sections != now.Sections:
		f.add(Broken, "policy", fmt.Sprintf("sections of %s that take effect at a start (server, hooks, llm, auditor, verifier, "+
			"telegram, approvals) have changed since", named(now.File)), "restart the server")
	default:
		f.add(Good, "policy", fmt.Sprintf("version %s of %s is in force", there.Version, named(there.File)), "")
	}
}

// named is a policy file for people.
func named(file string) string {
	if file == "" {
		return "the shipped policy"
	}
	return file
}

func (s Server) version(ctx context.Context, f *found) {
	switch v := s.Ask(ctx); {
	case v == nil:
		f.add(Broken, "version", "it does not report its status", "see tokens")
	case v.Version != s.Version:
		f.add(Broken, "version", fmt.Sprintf("the server is %q, this program is %q", v.Version, s.Version), "restart the server")
	default:
		f.add(Good, "version", v.Version, "")
	}
}

// nobody is a token no server has given to anyone.
const nobody = "tm-nobody-0000000000000000000000000000"

// CheckTickets tells what somebody who has read the agent's token could say as the owner.
func CheckTickets(s Server) Check {
	return Check{Name: "tickets", Run: func(context.Context) []Finding {
		f := found{about: "tickets"}
		switch {
		case s.TokenErr != nil:
		case s.Away != nil:
			f.add(Open, "words", "they are verified per machine, not per process: one of your agents that reads your files "+
				"can speak as you in the sessions of your other agents", "where that matters, have agents run as different users")
		case s.Tickets:
			f.add(Good, "words", "they count only with the session's ticket, or from the agent's process", "")
		default:
			f.add(Open, "words", "they count in sessions that began without a ticket: whoever reads the agent's token speaks there as you",
				"server.tickets: required in the policy file, once hooks, plugins and SDKs are of this version")
		}
		if s.Unseen != "" {
			f.add(Open, "hooks", "they cannot be verified: "+s.Unseen, "")
		}
		return f.list
	}}
}

// CheckTokens looks whether the token file is private and is the running server's.
func CheckTokens(s Server, file string) Check {
	return Check{Name: "tokens", Run: func(ctx context.Context) []Finding {
		f := found{about: "tokens"}
		if s.TokenErr != nil {
			f.add(Broken, "file", s.TokenErr.Error(), "")
			return f.list
		}
		f.add(Good, "file", file+" is there and private", "")
		if s.URL == "" {
			return f.list
		}
		for _, r := range []struct{ role, token, path string }{
			{"agent", s.Tokens.Agent, "/v1/policy"},
			{"reader", s.Tokens.Reader, "/v1/status"},
		} {
			if err := newClient(s.URL, r.token, s.Tokens.Agent).call(ctx, http.MethodGet, r.path, nil, nil); err != nil {
				f.add(Broken, r.role, "the server does not take this token: "+err.Error(),
					"restart the server, or give --data of the one that runs")
			} else {
				f.add(Good, r.role, "the server takes it", "")
			}
		}
		for role, token := range map[string]string{"owner": s.Tokens.Owner, "approver": s.Tokens.Approver, "admin": s.Tokens.Admin} {
			if token != "" && !strings.HasPrefix(token, "sha256:") {
				f.add(Broken, role, "it is on the disk in plain text: an agent with a shell can answer its own questions",
					"restart the server, which then keeps only a hash")
			}
		}
		var no *refusedError
		err := newClient(s.URL, nobody, s.Tokens.Agent).call(ctx, http.MethodGet, "/v1/policy", nil, nil)
		switch {
		case err != nil && !errors.As(err, &no):
			f.add(Broken, "others", "it could not be tried with an invalid token: "+err.Error(), startServer)
		case no == nil || no.status != http.StatusUnauthorized:
			f.add(Broken, "others", "the server accepts an invalid token", "something else answers at "+s.URL)
		default:
			f.add(Good, "others", "an invalid token is refused", "")
		}
		return f.list
	}}
}

// proof says who can approve.
func (f *found) proof(want string) {
	switch want {
	case "passkey":
		f.add(Good, "proof", "approving takes a passkey, at every door", "")
	case "typed":
		f.add(Limit, "proof", "approving takes a secret that is typed: a program that sees it typed can approve",
			"enrol a passkey: tidemark console --role approver, page Keys")
	default:
		f.add(Limit, "proof",
			"approvals can be given by any program of this user that comes by the approver's token: no passkey is enrolled",
			"enrol a passkey: tidemark console --role approver, page Keys")
	}
}

// CheckApprovals looks whether questions reach somebody. Without a server, parts checks
// from here.
func CheckApprovals(s Server, parts func(ctx context.Context) ([]Part, error)) Check {
	return Check{Name: "approvals", Run: func(ctx context.Context) []Finding {
		f := found{about: "approvals"}
		var list []Part
		if v := s.Ask(ctx); v != nil {
			list = v.Parts
			f.proof(v.Proof)
		} else {
			var err error
			if list, err = parts(ctx); err != nil {
				f.add(Broken, "policy file", line(err.Error()), "tidemark policy check")
				return f.list
			}
		}
		for _, p := range list {
			switch {
			case p.OK:
				f.add(Good, p.Name, p.Detail, "")
			case p.Name == "reader":
				f.add(Broken, p.Name, "cannot be asked: "+p.Fault, "tidemark model")
			default:
				f.add(Broken, p.Name, "cannot be reached: "+p.Fault, "questions do not arrive there; calls stay held")
			}
		}
		return f.list
	}}
}
