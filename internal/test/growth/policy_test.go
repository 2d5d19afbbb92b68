//go:build unix

package growth_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Policy files of n of everything that can be written into one. What is too large is refused.
func TestPolicyFiles(t *testing.T) {
	linear(t, texts(map[string]func(n int) string{
		"rules": func(n int) string {
			return "rules:\n" + numbered(n, "  - {name: r#, when: 'args.a == \"#\"', effect: deny}\n")
		},
		"terms": func(n int) string {
			return "rules:\n  - {name: r, effect: deny, when: 'true" + numbered(n, " && args.a != \"#\"") + "'}\n"
		},
		"brackets": func(n int) string {
			return "rules:\n  - {name: r, effect: deny, when: '" + strings.Repeat("(", n) + "true" + strings.Repeat(")", n) + "'}\n"
		},
		"not": func(n int) string {
			return "rules:\n  - {name: r, effect: deny, when: '" + strings.Repeat("!", n) + "true'}\n"
		},
		"a list": func(n int) string {
			return "rules:\n  - {name: r, effect: deny, when: 'args.a in [1" + numbered(n, ",#") + "]'}\n"
		},
		"a pattern": func(n int) string {
			return "rules:\n  - {name: r, effect: deny, when: 'args.a.matches(\"" + strings.Repeat("(a|b)*", n) + "\")'}\n"
		},
		"counted patterns": func(n int) string {
			return "rules:\n  - {name: r, effect: deny, when: 'args.a.matches(\"" + strings.Repeat("a{1,99}", n) + "\")'}\n"
		},
		"overrides": func(n int) string { return "toolOverrides:\n" + numbered(n, "  tool_#: {\"*\": ask}\n") },
		"globs":     func(n int) string { return "toolOverrides:\n" + numbered(n, "  \"*a#*\": {\"*\": ask}\n") },
		"stars":     func(n int) string { return "toolOverrides:\n  \"" + strings.Repeat("*a", n) + "\": {\"*\": ask}\n" },
		"taints":    func(n int) string { return "toolOutputTaints:\n" + numbered(n, "  tool_#: local\n") },
		"paths": func(n int) string {
			return "trustRules:\n" + numbered(n, "  - {name: u#, tools: [read], path: \"/a#/**\", trust: owner}\n")
		},
		"one path": func(n int) string {
			return "trustRules:\n  - {name: u, tools: [read], path: \"" + strings.Repeat("/**/a", n) + "\", trust: owner}\n"
		},
		"links": func(n int) string {
			return "trustRules:\n" + numbered(n, "  - {name: u#, tools: [read], url: \"https://a#.example/**\", trust: owner}\n")
		},
		"agents":     func(n int) string { return "agents:\n" + numbered(n, "  a#: {}\n") },
		"faults":     func(n int) string { return numbered(n, "fault_#: 1\n") },
		"one line":   func(n int) string { return "{" + numbered(n, "fault_#: 1, ") + "}" },
		"depth":      func(n int) string { return strings.Repeat("{a: ", n) + "1" + strings.Repeat("}", n) },
		"anchors":    func(n int) string { return numbered(n, "a#: &a# [1]\n") },
		"comments":   func(n int) string { return strings.Repeat("# x\n", n) },
		"a long key": func(n int) string { return strings.Repeat("k", n) + ": 1\n" },
		"same keys":  func(n int) string { return strings.Repeat("a: 1\n", n) },
	}, func(text string) {
		set, faults := policy.Parse("tidemark.yaml", []byte(text))
		_ = faults.Render([]byte(text))
		if set != nil {
			args := tool.NewArgs([]byte(`{"path":"/tmp/x","a":"b"}`))
			set.Judge(&policy.Input{Tool: "read", Args: &args, Taint: trust.Untrusted, Iteration: 1, Tainted: true})
		}
	}))
}

// rules are conditions of every kind, over what a call holds.
const rules = `
toolOverrides: {"*a*b*c*": {"*": ask}}
trustRules:
  - {name: p, tools: [look], path: ["/**/a/**/b/**/c"], trust: owner}
  - {name: u, tools: [look], url: "https://*.*.example/**/x", trust: owner}
  - {name: c, tools: [look], command: [git status], trust: owner}
rules:
  - {name: pattern, effect: deny, when: 'args.a.matches("(a+)+$")'}
  - {name: words, effect: deny, when: 'args.a.matches("(?i)(foo|bar|baz).*(drop|delete).*[0-9]{3,9}")'}
  - {name: contains, effect: deny, when: 'args.a.contains("needle")'}
  - {name: all, effect: deny, when: 'has(args.list) && args.list.exists(x, x == "needle")'}
  - {name: two, effect: deny, when: 'has(args.list) && args.list.exists(x, args.list.exists(y, x == y + "!"))'}
  - {name: split, effect: deny, when: 'args.a.split(",").exists(x, x == "needle")'}
`

// Conditions, globs and regular expressions of a policy over values of growing size.
func TestConditions(t *testing.T) {
	set, faults := policy.Parse("tidemark.yaml", []byte(rules))
	if set == nil {
		t.Fatal(faults)
	}
	judge := func(args string) {
		a := tool.NewArgs([]byte(args))
		set.Judge(&policy.Input{Tool: "look", Args: &a, Taint: trust.Untrusted, Iteration: 1, Tainted: true})
		set.Traits("look", &a)
	}
	for _, member := range []string{"a", "path", "url", "command"} {
		all := map[string]func(n int) string{}
		for name, of := range few(long, "words", "one word", "folders", "patterns", "parts of a link", "escapes", "commands", "commas", "letters") {
			all[name] = func(n int) string { return fmt.Sprintf(`{%q:%s}`, member, quote(of(n))) }
		}
		t.Run(member, func(t *testing.T) { linear(t, texts(all, judge)) })
	}
	t.Run("entries", func(t *testing.T) {
		linear(t, texts(map[string]func(n int) string{
			"of a list": func(n int) string { return `{"a":"x","list":["x"` + numbered(n, `,"e#"`) + `]}` },
			"alike":     func(n int) string { return `{"a":"x","list":["x"` + strings.Repeat(`,"x"`, n) + `]}` },
			"names":     func(n int) string { return `{"a":"x"` + numbered(n, `,"m#":#`) + `}` },
		}, judge))
	})
	t.Run("names of tools", func(t *testing.T) {
		linear(t, texts(map[string]func(n int) string{
			"parts": func(n int) string { return strings.Repeat("ab_", n) }, "letters": func(n int) string { return strings.Repeat("a", n) },
		}, func(name string) {
			a := tool.NewArgs([]byte(`{}`))
			set.Judge(&policy.Input{Tool: tool.Name(name), Args: &a, Taint: trust.Untrusted, Iteration: 1})
		}))
	})
}
