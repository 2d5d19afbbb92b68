package doctor

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/tool"
)

// MCPServer is a server in an agent's settings.
type MCPServer struct {
	Agent, Name, File string
	Why               string   // it cannot be put behind Tidemark
	Behind            bool     // the agent reaches it through Tidemark
	Lost              bool     // it did, until somebody changed the settings
	Relay             []string // how the agent starts what we put before it, without the server's own command; nil: we did not
}

// CheckServers names the MCP servers of agents that are not behind Tidemark, and proves of each agent that one which is is
// guarded: what the agent starts is started, before a server that only writes down what reaches it.
func CheckServers(look func() ([]MCPServer, error)) Check {
	return Check{Name: "MCP servers", Run: func(ctx context.Context) []Finding {
		f := found{about: "MCP servers"}
		all, err := look()
		if err != nil {
			f.add(Limit, "settings", "not looked at: "+err.Error(), "")
		}
		var agents []string
		behind, bare := map[string][]string{}, map[string][]string{}
		for _, s := range all {
			if !slices.Contains(agents, s.Agent) {
				agents = append(agents, s.Agent)
			}
			switch {
			case s.Behind:
				behind[s.Agent] = append(behind[s.Agent], s.Name)
			case s.Lost:
				f.add(Broken, s.Agent, fmt.Sprintf("%s was behind Tidemark, and %s was changed: it no longer is", s.Name, s.File),
					"tidemark mcp wrap "+s.Agent)
			case s.Why != "":
				f.add(Limit, s.Agent, fmt.Sprintf("%s is not behind Tidemark: %s", s.Name, s.Why), "")
			default:
				bare[s.Agent] = append(bare[s.Agent], s.Name)
			}
		}
		for _, a := range agents {
			if i := slices.IndexFunc(all, func(s MCPServer) bool { return s.Agent == a && s.Behind && len(s.Relay) > 0 }); i >= 0 {
				try := func(ctx context.Context) (Trial, error) { return tryRelay(ctx, all[i].Relay) }
				f.try(ctx, Door{Name: a + ", " + all[i].Name, Try: try}, Broken)
			}
			if names := behind[a]; len(names) > 0 {
				f.add(Good, a, "behind Tidemark: "+strings.Join(names, ", "), "")
			}
			if names := bare[a]; len(names) > 0 {
				f.add(Limit, a, "not behind Tidemark, so nobody notices when their tools change: "+strings.Join(names, ", "),
					"tidemark mcp wrap "+a)
			}
		}
		return f.list
	}}
}

// keeper is the program in a server's place: it writes what reaches it to a file, and says so. To what the relay asks for
// itself it answers that it knows nothing: definitions of its own would be taken for the server's.
const keeper = `while IFS= read -r line; do
case $line in
*` + tool.Canary + `*) printf '%s\n' "$line" >"$0"; echo reached ;;
*'"id":'*) id=${line#*'"id":'}; printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "${id%%[,\}]*}" ;;
esac
done`

// relayLimit is how long a relay may take to refuse.
const relayLimit = 30 * time.Second

const canaryCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"canary","arguments":{"canary":"` + tool.Canary +
	`"}}}` + "\n"

// tryRelay sends a call with the canary through a relay, as its agent would. In the server's place stands a program that
// keeps what reaches it.
func tryRelay(ctx context.Context, relay []string) (t Trial, err error) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return Trial{How: "there is no sh to stand in the server's place"}, nil // it was not tried
	}
	dir, err := os.MkdirTemp("", "tidemark-doctor-")
	if err != nil {
		return Trial{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	reached := filepath.Join(dir, "reached")
	ctx, cancel := context.WithTimeout(ctx, relayLimit)
	defer cancel()
	args := append(slices.Clone(relay[1:]), shell, "-c", keeper, reached)
	cmd := exec.CommandContext(ctx, relay[0], args...) //nolint:gosec // the agent runs it
	cmd.Env = append(os.Environ(), "TIDEMARK_SESSION="+session)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	in, err := cmd.StdinPipe()
	if err != nil {
		return Trial{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Trial{}, err
	}
	if err := cmd.Start(); err != nil {
		return Trial{}, err
	}
	_, _ = io.WriteString(in, canaryCall)                        // where it is gone there is no answer
	answer, _ := bufio.NewReaderSize(out, 1<<16).ReadSlice('\n') // as above
	answer = slices.Clone(answer)
	_ = in.Close()
	over := time.AfterFunc(2*time.Second, cancel) // it ends with its input, or soon after
	_ = cmd.Wait()                                // what it says then changes nothing
	over.Stop()
	if got, err := os.ReadFile(reached); err == nil && bytes.Contains(got, []byte(tool.Canary)) {
		return Trial{Ran: true, How: "the server got the call with " + tool.Canary}, nil
	}
	var said struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			Failed bool `json:"isError"`
		} `json:"result"`
	}
	if strictjson.Unmarshal(answer, &said) != nil || !said.Result.Failed || len(said.Result.Content) == 0 {
		return Trial{How: "what the agent starts gave no answer: " + reason(errOut.String())}, nil
	}
	return Trial{Ran: true, Blocked: true, How: reason(said.Result.Content[0].Text)}, nil
}
