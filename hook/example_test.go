package hook_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/trust"
)

// A security plugin that takes the shell away from long loops, and one that adds a
// footer: both are asked, and neither can undo the other.
func ExampleBus() {
	bus := hook.New(hook.Options{})
	shell := hook.Handler{Name: "no-shell", Priority: 100, On: hook.Handlers{
		BeforeLLMCall: func(_ context.Context, e *hook.BeforeLLMCall, _ *hook.Context) (*hook.BeforeLLMCallResult, error) {
			if e.Iteration < 3 {
				return nil, nil // no change
			}
			kept := slices.DeleteFunc(e.Tools, func(t hook.Tool) bool { return t.Name() == "exec" })
			return &hook.BeforeLLMCallResult{Tools: kept}, nil
		},
	}}
	footer := hook.Handler{FailOpen: true, Name: "footer", On: hook.Handlers{
		BeforeResponseEmit: func(context.Context, *hook.BeforeResponseEmit, *hook.Context) (*hook.BeforeResponseEmitResult, error) {
			label := trust.Label{Level: trust.External, Sources: []trust.Source{{Level: trust.External, Tool: "message"}}}
			return &hook.BeforeResponseEmitResult{AppendFooter: hook.Footer(label)}, nil
		},
	}}
	for _, h := range []hook.Handler{shell, footer} {
		if err := bus.Register(h); err != nil {
			fmt.Println(err)
			return
		}
	}

	call := &hook.BeforeLLMCall{Iteration: 3, Tools: []hook.Tool{hook.ToolNamed("read"), hook.ToolNamed("exec")}}
	for _, t := range bus.BeforeLLMCall(context.Background(), call, &hook.Context{SessionKey: "s"}).Tools {
		fmt.Println(t.Name())
	}
	fmt.Println(bus.BeforeResponseEmit(context.Background(), &hook.BeforeResponseEmit{Content: "Done."}, nil).AppendFooter)
	// Output:
	// read
	// Provenance: this answer was informed by external content (message).
}
