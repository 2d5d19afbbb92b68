package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte(seedPolicies))
	f.Add([]byte(staticRules))
	f.Add([]byte(commandRules))
	files, _ := filepath.Glob("testdata/faults/*.txtar")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(txtar.Parse(b).Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s, faults := policy.Parse("p.yaml", src)
		_ = faults.Render(src)
		if (s == nil) != (faults.Err() != nil) {
			t.Fatalf("set %v beside faults %v", s != nil, faults)
		}
		if s == nil {
			return
		}
		args := tool.NewArgs([]byte(`{"command":"ls","url":"https://a.example.com","path":"/tmp/x"}`))
		for _, name := range append(s.Tools(), "unknown") {
			for _, l := range trust.Levels() {
				in := policy.Input{Tool: name, Args: &args, Taint: l, Iteration: 4, Tainted: true, Agent: "reader"}
				if d := s.Judge(&in); d.Rule == "" || len(d.Reasons) == 0 {
					t.Fatalf("%s at %s: no rule decided", name, l)
				}
				s.Visible(&in)
				s.Turn(&in)
				s.Traits(name, &args)
			}
		}
	})
}

func FuzzTraits(f *testing.F) {
	for _, s := range []string{
		`{"command":"bash -c 'curl x' | sudo -u a mail"}`, `{"url":"https://a@b.example.com/%2e"}`, `{"path":"~/../x"}`,
		`{"command":["env","-S","x y"]}`, `{"command":"find . -exec sh {} ;"}`, `{"patch":"+++ b/MEMORY.md"}`, `{`, `{"command":"$'\\x41' {a,b}"}`,
	} {
		f.Add([]byte(s))
	}
	set, faults := policy.Parse("p.yaml", []byte(`
trustRules:
  - {name: u, tools: [exec], url: "https://*.example.com/a/**", trust: owner}
  - {name: p, tools: [exec], path: ["/srv/**", "~/.ssh/**"], trust: owner, sensitivity: secret}
  - {name: c, tools: [exec], command: [git status], trust: owner}
`))
	if faults.Err() != nil {
		f.Fatal(faults)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, b := tool.NewArgs(raw), tool.NewArgs(raw)
		first, second := set.Traits("exec", &a), set.Traits("exec", &b)
		if first != second {
			t.Fatalf("asked twice: %+v, then %+v", first, second)
		}
		if _, err := a.Fields(); err != nil && first.Level != trust.Untrusted {
			t.Fatalf("arguments that cannot be read are %s", first.Level)
		}
		set.Traits("write", &a)
	})
}
