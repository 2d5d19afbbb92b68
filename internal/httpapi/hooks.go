package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/base/serverproof"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// handler carries out one hook and returns what to answer.
type handler func(ctx context.Context, env *hook.Envelope) (any, error)

// on makes a handler of a function that takes its own kind of event.
func on[E hook.Event](serve func(ctx context.Context, event E, c *hook.Context) (any, error)) handler {
	return func(ctx context.Context, env *hook.Envelope) (any, error) {
		event, ok := env.Event.(E)
		if !ok {
			return nil, fmt.Errorf("serve %s: got the event of another hook", env.Event.Hook())
		}
		return serve(ctx, event, &env.Ctx)
	}
}

func (a *API) handlers() map[hook.Name]handler {
	return map[hook.Name]handler{
		hook.NameMessageReceived:    on(a.messageReceived),
		hook.NameBeforeAgentStart:   on(a.beforeAgentStart),
		hook.NameContextAssembled:   on(a.contextAssembled),
		hook.NameLoopIterationStart: on(a.loopIterationStart),
		hook.NameBeforeLLMCall:      on(a.beforeLLMCall),
		hook.NameAfterLLMCall:       on(a.afterLLMCall),
		hook.NameBeforeToolCall:     on(a.beforeToolCall),
		hook.NameAfterToolCall:      on(a.afterToolCall),
		hook.NameToolResultPersist:  on(a.toolResultPersist),
		hook.NameLoopIterationEnd:   on(a.loopIterationEnd),
		hook.NameBeforeResponseEmit: on(a.beforeResponseEmit),
		hook.NameMessageSending:     on(a.messageSending),
		hook.NameAgentEnd:           on(a.agentEnd),
	}
}

// serveHook answers one hook: one read, one decode, one encode.
func (a *API) serveHook(w http.ResponseWriter, r *http.Request) {
	start := a.now()
	name := hookOf(r)
	status := a.hook(w, r, name)
	a.metrics.hook(name, status, a.now().Sub(start))
}

func (a *API) hook(w http.ResponseWriter, r *http.Request, name hook.Name) (status int) {
	if ask := r.Header.Get(serverproof.AskHeader); serverproof.IsAsk(ask) {
		w.Header().Set(serverproof.AskHeader, ask)
	}
	answer, p := a.runHook(w, r, name)
	if p == nil {
		p = a.writeAnswer(w, r, answer)
	}
	if p == nil {
		return http.StatusOK
	}
	a.writeProblem(w, name, p)
	return p.Status
}

func (a *API) runHook(w http.ResponseWriter, r *http.Request, name hook.Name) (any, *Problem) {
	serve := a.hooks[name]
	if serve == nil {
		return nil, unknownHook()
	}
	buf := a.buffers.get()
	defer a.buffers.put(buf)
	if p := a.readJSON(w, r, buf); p != nil {
		return nil, p
	}
	env, err := hook.Decode(name, buf.Bytes())
	if err != nil {
		return nil, badRequest(err.Error())
	}
	if p := checkKey(env.Ctx.SessionKey); p != nil {
		return nil, p
	}
	if p := a.ownAgent(r.Context(), &env.Ctx); p != nil {
		return nil, p
	}
	ctx, p := a.greeted(r.Context(), &env.Ctx)
	if p != nil {
		return nil, p
	}
	answer, err := serve(ctx, env)
	if err != nil {
		return nil, a.explain(ctx, err)
	}
	return answer, nil
}

// ownAgent sets the id of the agent whose token a hook came with. Another one's name is refused, and so is another one's session.
func (a *API) ownAgent(ctx context.Context, c *hook.Context) *Problem {
	who := callerOf(ctx)
	own := who.agent
	if isAfar(ctx) {
		c.Record, c.RecordSum = "", "" // a file of another machine, which cannot be looked at here
	}
	if who.machine != "" {
		own = qualify(who, c)
	}
	if own == "" {
		return nil
	}
	at, err := a.monitor.Standing(ctx, refOf(c))
	if err != nil {
		return a.explain(ctx, err)
	}
	for _, named := range []string{c.AgentID, at.Agent} {
		if named != "" && named != own {
			return newProblem(http.StatusForbidden, "agent",
				fmt.Sprintf("this token is the agent %s's, and this is said to be of %s: each agent has a token of its own "+
					"(tidemark token add NAME --role agent --agent ID)", own, named))
		}
	}
	c.AgentID = own
	if a.asks != nil {
		a.asks.Heard(refOf(c).Session, own, c.HostTools)
	}
	return nil
}

// writeAnswer encodes before it writes, so that half an answer never goes out.
func (a *API) writeAnswer(w http.ResponseWriter, r *http.Request, answer any) *Problem {
	buf := a.buffers.get()
	defer a.buffers.put(buf)
	if err := strictjson.Write(buf, answer); err != nil {
		return a.explain(r.Context(), fmt.Errorf("encode answer: %w", err))
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	_, _ = w.Write(buf.Bytes()) // a client that is gone cannot be told
	return nil
}

// unknownHook lists the hooks there are.
func unknownHook() *Problem {
	names := make([]string, 0, len(hook.Names()))
	for _, n := range hook.Names() {
		names = append(names, string(n))
	}
	return newProblem(http.StatusNotFound, "unknown-hook", "there is no such hook; the hooks are "+strings.Join(names, ", "))
}

// checkKey refuses session names the log cannot keep.
func checkKey(key string) *Problem {
	if strings.ContainsRune(key, 0) {
		return badRequest("ctx.sessionKey: holds a NUL character")
	}
	return nil
}

// pluginFault is the answer when a plugin that fails closed could not be told: the host
// must not go on as if it had been.
func pluginFault(err error) error {
	return unavailable("a plugin that must see this could not take it: " + pluginText(err))
}

// pluginText leaves out a plugin's own words, which may hold anything.
func pluginText(err error) string {
	for _, kind := range []error{hook.ErrTimeLimit, hook.ErrPanic, hook.ErrStuck, hook.ErrResult} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return "it returned an error"
}
