// Package adk shows ADK for Go guarded by the monitor, as a plugin of the runner:
//
//	runner.Config{..., PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{guarded}}}
//
// Tools inside an agent tool run without plugins (google/adk-go issue 669), and an agent's own callbacks come after plugins and may
// change the arguments: use neither.
package adk

import (
	"errors"
	"strings"
	"sync"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/tidemark/tidemark"
	"github.com/tidemark/tidemark/sdk/go/guard"
	"github.com/tidemark/tidemark/trust"
)

// Plugin asks before each tool and tells what each brings. user says who speaks, by the runner's user id.
func Plugin(m *tidemark.Monitor, user func(id string) trust.Sender) (*plugin.Plugin, error) {
	var running sync.Map // the calls that run, by their id
	turn := func(session, invocation, who string) guard.Turn {
		return guard.Turn{Monitor: m, Ref: tidemark.Ref{Session: session, Turn: invocation}, User: user(who)}
	}
	return plugin.New(plugin.Config{
		Name: "tidemark",
		OnUserMessageCallback: func(c agent.InvocationContext, said *genai.Content) (*genai.Content, error) {
			var words strings.Builder
			for _, p := range said.Parts {
				words.WriteString(p.Text)
			}
			return nil, turn(c.Session().ID(), c.InvocationID(), c.Session().UserID()).Begin(c, words.String())
		},
		BeforeToolCallback: func(c agent.Context, t tool.Tool, args map[string]any) (map[string]any, error) {
			done, refusal, err := turn(c.SessionID(), c.InvocationID(), c.UserID()).Start(c, c.FunctionCallID(), t.Name(), args)
			if err != nil {
				return nil, err // the model reads it, and the tool does not run
			}
			if done == nil {
				return nil, errors.New(refusal)
			}
			running.Store(c.FunctionCallID(), done)
			return nil, nil
		},
		AfterToolCallback: func(c agent.Context, _ tool.Tool, _, result map[string]any, failed error) (map[string]any, error) {
			done, ran := running.LoadAndDelete(c.FunctionCallID())
			if !ran {
				return nil, nil // it was refused
			}
			return nil, done.(guard.Done)(c, result, failed)
		},
	})
}
