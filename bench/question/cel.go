package question

import (
	"fmt"

	"cel.dev/cel-go/cel"
)

// Expression is the question as a CEL expression.
const Expression = `tool == "web_fetch" && args.url.startsWith("https://internal.") && taint >= 4`

// NewProgram compiles the expression the fast way: optimised, and without the cost limit
// that untrusted expressions need.
func NewProgram() (cel.Program, error) {
	env, err := cel.NewEnv(
		cel.Variable("tool", cel.StringType),
		cel.Variable("args", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("taint", cel.IntType),
	)
	if err != nil {
		return nil, fmt.Errorf("new environment: %w", err)
	}
	checked, issues := env.Compile(Expression)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compile expression: %w", issues.Err())
	}
	return env.Program(checked, cel.EvalOptions(cel.OptOptimize))
}

// Values are the call and its context as CEL takes them. They are made once: a bare
// evaluation does not pay for decoding arguments.
func Values() map[string]any {
	return map[string]any{"tool": Tool, "args": map[string]any{"url": URL, "format": "markdown"}, "taint": Taint}
}
