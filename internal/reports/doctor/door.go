package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/tool"
)

// Trial is what came of a call that must be blocked. The zero Trial was not tried.
type Trial struct {
	Ran     bool   // it could be tried
	Blocked bool   // the call would not have run, or did not
	How     string // what really happened, in words
}

// Door is one way to the monitor, and how to send a call through it that must be blocked.
type Door struct {
	Name string
	Try  func(ctx context.Context) (Trial, error)
}

// CheckDoors sends a canary through each door.
func CheckDoors(doors []Door) Check {
	return Check{Name: "doors", Run: func(ctx context.Context) []Finding {
		f := found{about: "doors"}
		for _, d := range doors {
			f.try(ctx, d, Broken)
		}
		return f.list
	}}
}

// try reports a trial. untried is the grade of one that could not be made.
func (f *found) try(ctx context.Context, d Door, untried Grade) {
	t, err := d.Try(ctx)
	switch {
	case err != nil:
		f.add(untried, d.Name, "the canary could not be tried: "+err.Error(), "")
	case t.Ran && !t.Blocked:
		f.add(Broken, d.Name, "THE CANARY WAS NOT BLOCKED: "+t.How,
			"nothing guards this door: stop the agents that use it, then see the lines above")
	case !t.Ran:
		f.add(untried, d.Name, "the canary could not be tried: "+t.How, "")
	default:
		f.add(Good, d.Name, "the canary was blocked: "+t.How, "")
	}
}

// session is where tried calls are recorded.
const session = "doctor:canary"

// HTTPDoor is the hook API, asked as a host asks it.
func HTTPDoor(url, agentToken string) Door {
	return Door{Name: "HTTP hook API", Try: func(ctx context.Context) (Trial, error) {
		if url == "" {
			return Trial{How: "no server runs"}, nil
		}
		var got struct {
			Block    bool `json:"block"`
			Tidemark struct {
				Verdict string `json:"verdict"`
				Rule    string `json:"rule"`
			} `json:"tidemark"`
		}
		body := map[string]any{
			"event": map[string]any{"toolName": "exec", "params": map[string]any{"command": "echo " + tool.Canary}, "toolCallId": "canary"},
			"ctx":   map[string]any{"sessionKey": session},
		}
		c := newClient(url, agentToken, agentToken)
		if err := c.call(ctx, http.MethodPost, "/v1/hooks/before_tool_call", body, &got); err != nil {
			return Trial{}, err
		}
		if !got.Block {
			how := fmt.Sprintf("the server let it through (verdict %q, rule %q)", got.Tidemark.Verdict, got.Tidemark.Rule)
			return Trial{Ran: true, How: how}, nil
		}
		return Trial{Ran: true, Blocked: true, How: "refused by rule " + got.Tidemark.Rule}, nil
	}}
}

// payload is a call as Claude Code announces it; any agent's would do.
const payload = `{"session_id":"doctor","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"canary",` +
	`"tool_input":{"command":"echo ` + tool.Canary + `"}}`

// hookLimit is how long the hook program may take: its own deadline and a margin.
const hookLimit = 20 * time.Second

// refusal is the exit code every agent takes for no.
const refusal = 2

// HookDoor is the program that coding agents start before every call.
func HookDoor(program, data string) Door {
	return Door{Name: "hook program", Try: func(ctx context.Context) (Trial, error) {
		if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
			return Trial{How: program + " is not there (make build puts it beside tidemark)"}, nil
		}
		ctx, cancel := context.WithTimeout(ctx, hookLimit)
		defer cancel()
		//nolint:gosec // our own program, beside this one
		cmd := exec.CommandContext(ctx, program, "--agent", "claude", "--data", data, "--sender", "unknown")
		var out, errOut bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(payload), &out, &errOut
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			return Trial{}, fmt.Errorf("run %s: %w", program, err)
		}
		if code := cmd.ProcessState.ExitCode(); code != refusal {
			how := fmt.Sprintf("%s ended with code %d instead of %d: %s", program, code, refusal, line(errOut.String()))
			return Trial{Ran: true, How: how}, nil
		}
		return Trial{Ran: true, Blocked: true, How: reason(errOut.String())}, nil
	}}
}

// reason is why the hook program refused: what it says of the canary, else its first line.
func reason(said string) string {
	for l := range strings.Lines(said) {
		if strings.Contains(l, "canary") {
			return line(l)
		}
	}
	return line(said)
}

// line is the first line of what a program said, cut to fit.
func line(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return text.Mark(s, 160)
}

// marshal is a request's body.
func marshal(v any) ([]byte, error) {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return raw, nil
}
