package policy_test

import (
	"testing"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

const benchExpression = `args.url.startsWith("https://internal.") && taint >= external`

func benchJudge(b *testing.B, src string, in policy.Input, raw string) {
	b.Helper()
	set := mustParse(b, src)
	args := tool.NewArgs([]byte(raw))
	in.Args = &args
	b.ReportAllocs()
	for b.Loop() {
		if d := set.Judge(&in); d.Rule == "" {
			b.Fatal("no rule decided")
		}
	}
}

func BenchmarkJudgeOverride(b *testing.B) {
	benchJudge(b, "", policy.Input{Tool: "read", Taint: trust.Untrusted}, `{"path":"a"}`)
}

func BenchmarkJudgeLevel(b *testing.B) {
	benchJudge(b, "", policy.Input{Tool: "exec", Taint: trust.Untrusted, Tainted: true, Levels: 0b100011}, `{"command":"ls"}`)
}

func BenchmarkJudgeUnknownTool(b *testing.B) {
	benchJudge(b, "", policy.Input{Tool: "mcp__github__create_issue", Taint: trust.Untrusted}, `{}`)
}

func BenchmarkJudgeGlobTool(b *testing.B) {
	benchJudge(b, "rules: [{name: r, tools: ['mcp__*'], effect: ask}]",
		policy.Input{Tool: "mcp__github__create_issue", Taint: trust.Untrusted}, `{}`)
}

func BenchmarkJudgeDeclarative(b *testing.B) {
	benchJudge(b, seedPolicies, policy.Input{Tool: "exec", Taint: trust.Untrusted, Iteration: 3, Levels: 0b000011}, `{"command":"ls"}`)
}

func BenchmarkJudgeConditionMiss(b *testing.B) {
	benchJudge(b, "rules: [{name: r, tools: [web_fetch], effect: deny, when: '"+benchExpression+"'}]",
		policy.Input{Tool: "web_fetch", Taint: trust.Owner}, `{"url":"https://internal.example.com/x"}`)
}

func BenchmarkJudgeConditionMatch(b *testing.B) {
	benchJudge(b, "rules: [{name: r, tools: [web_fetch], effect: deny, when: '"+benchExpression+"'}]",
		policy.Input{Tool: "web_fetch", Taint: trust.Untrusted}, `{"url":"https://internal.example.com/x"}`)
}

// BenchmarkBareCondition is the floor for the two above: the expression alone, on a map.
func BenchmarkBareCondition(b *testing.B) {
	env, err := cel.NewEnv(cel.Variable("args", cel.MapType(cel.StringType, cel.DynType)), cel.Variable("taint", cel.IntType),
		cel.Constant("external", cel.IntType, types.Int(trust.External.Distrust())))
	if err != nil {
		b.Fatal(err)
	}
	ast, issues := env.Compile(benchExpression)
	if issues.Err() != nil {
		b.Fatal(issues.Err())
	}
	prog, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		b.Fatal(err)
	}
	vars := map[string]any{"args": map[string]any{"url": "https://internal.example.com/x"}, "taint": 5}
	b.ReportAllocs()
	for b.Loop() {
		if out, _, err := prog.Eval(vars); err != nil || out != types.True {
			b.Fatal(out, err)
		}
	}
}

func BenchmarkTraitsPlain(b *testing.B) {
	set := classic()
	args := tool.NewArgs([]byte(`{"url":"https://example.com/a"}`))
	b.ReportAllocs()
	for b.Loop() {
		set.Traits("web_fetch", &args)
	}
}

func BenchmarkTraitsURL(b *testing.B) {
	set := mustParse(b, "trustRules: [{name: docs, tools: [web_fetch], url: 'https://*.example.com/docs/**', trust: shared}]")
	args := tool.NewArgs([]byte(`{"url":"https://www.example.com/docs/a"}`))
	b.ReportAllocs()
	for b.Loop() {
		set.Traits("web_fetch", &args)
	}
}

func BenchmarkTraitsCommand(b *testing.B) {
	set := classic()
	args := tool.NewArgs([]byte(`{"command":"cd src && git status | grep main"}`))
	b.ReportAllocs()
	for b.Loop() {
		set.Traits("exec", &args)
	}
}

func BenchmarkParseDefault(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		policy.Default()
	}
}

func BenchmarkParseWithCondition(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		mustParse(b, "rules: [{name: r, tools: [web_fetch], effect: deny, when: '"+benchExpression+"'}]")
	}
}
