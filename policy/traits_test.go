package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/policy"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// traits asks for a call with these arguments.
func traits(s *policy.Set, name string, args any) policy.Traits {
	raw, ok := args.(string)
	if !ok {
		b, err := strictjson.Marshal(args)
		if err != nil {
			panic(err)
		}
		raw = string(b)
	}
	a := tool.NewArgs([]byte(raw))
	return s.Traits(name, &a)
}

// PRV-03: the trust of what each tool brings back.
func TestTheTableOfResponses(t *testing.T) {
	s := classic()
	for level, names := range map[trust.Level]string{
		trust.Local:     "read edit write exec process tts cron sessions_spawn sessions_send sessions_list sessions_history agents_list nodes canvas",
		trust.System:    "gateway session_status",
		trust.Shared:    "vestige_search vestige_smart_ingest vestige_ingest vestige_promote vestige_demote memory_search memory_get",
		trust.External:  "message gog image",
		trust.Untrusted: "web_fetch web_search browser unknown_tool",
	} {
		for _, name := range strings.Fields(names) {
			got := s.Traits(name, nil)
			rule := "toolOutputTaints." + name
			if name == "unknown_tool" {
				rule = "unknown-tool"
			}
			if got.Level != level || got.Rule != rule {
				t.Errorf("%s: got %s by %s, want %s by %s", name, got.Level, got.Rule, level, rule)
			}
			if got.Source != (level <= trust.External) {
				t.Errorf("%s: got source %t of %s content", name, got.Source, level)
			}
			if got.Sink || got.Sensitive || got.Sensitivity != trust.Internal {
				t.Errorf("%s: got sink %t, sensitive %t, %s; nothing of that is shipped", name, got.Sink, got.Sensitive, got.Sensitivity)
			}
			if upper := s.Traits(strings.ToUpper(name), nil); upper != got {
				t.Errorf("%s: another spelling gives %+v", name, upper)
			}
		}
	}
}

// PRV-02: response trust and call permission do not touch one another.
func TestTheTwoAxesAreIndependent(t *testing.T) {
	base := classic()
	s := mustParse(t, "toolOutputTaints: {exec: untrusted, web_fetch: local, new_tool: shared}")
	for name, want := range map[string]trust.Level{"exec": trust.Untrusted, "web_fetch": trust.Local, "new_tool": trust.Shared} {
		if got := s.Traits(name, nil).Level; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if got, want := modes(s, name), modes(base, name); got != want {
			t.Errorf("%s: changing its response changed its permission: %s, was %s", name, got, want)
		}
	}
	s = mustParse(t, `toolOverrides: {exec: {"*": hide}, web_fetch: {"*": ask}}`)
	for _, name := range []string{"exec", "web_fetch"} {
		if got, want := s.Traits(name, nil), base.Traits(name, nil); got != want {
			t.Errorf("%s: changing its permission changed its response: %+v", name, got)
		}
	}
}

// SEQ-02
func TestAnnotationsSayWhatAToolIs(t *testing.T) {
	s := mustParse(t, `
annotations:
  send_email: {taintSink: true}
  read_mail: {taintSource: true, sensitive: true}
  web_fetch: {taintSource: false}
  Vault-Get: {sensitive: true}
toolOutputTaints: {read_mail: local, vault_get: local}
`)
	type want struct{ source, sink, sensitive bool }
	for name, w := range map[string]want{
		"send_email": {true, true, false}, "read_mail": {true, false, true}, "web_fetch": {false, false, false},
		"vault_get": {false, false, true}, "exec": {false, false, false},
	} {
		got := s.Traits(name, nil)
		if (want{got.Source, got.Sink, got.Sensitive}) != w {
			t.Errorf("%s: got %+v, want %+v", name, got, w)
		}
		if got.Sensitive != (got.Sensitivity >= trust.Private) {
			t.Errorf("%s: sensitive %t but %s", name, got.Sensitive, got.Sensitivity)
		}
	}
}

// HOOK-12: reading messages and sending one differ.
func TestMessageReadAndSendDiffer(t *testing.T) {
	s := classic()
	for args, want := range map[string]trust.Level{
		`{"action":"send","to":"x"}`: trust.Local, `{"action":"React"}`: trust.Local, `{"action":"thread-reply"}`: trust.Local,
		`{"action":"read"}`: trust.External, `{"action":"search"}`: trust.External, `{}`: trust.External, `{"action":7}`: trust.External,
		`{`: trust.Untrusted,
	} {
		if got := traits(s, "message", args); got.Level != want {
			t.Errorf("%s: got %s by %s, want %s", args, got.Level, got.Rule, want)
		}
	}
}

// HOOK-12: rules by URL, and the tricks that must not fool them.
func TestURLRules(t *testing.T) {
	s := mustParse(t, `
trustRules:
  - {name: internal, tools: [web_fetch], url: ["https://*.example.com", "https://example.com:8443/docs/**"], trust: local, sensitivity: private}
  - {name: wiki, tools: ["web_*"], url: "*://wiki.test/pages/*/view", trust: shared}
  - {name: api-hosts, tools: [web_fetch], url: "https://api-*.corp.test:*/v1/**", trust: owner}
`)
	for _, tt := range []struct {
		url  string
		want trust.Level
	}{
		{"https://internal.example.com", trust.Local},
		{"https://INTERNAL.Example.COM/a/b?c=d#e", trust.Local},
		{"https://a.b.example.com/", trust.Local},
		{"https://internal.example.com:443/x", trust.Local},
		{"https://internal.example.com./x", trust.Local},
		{"https://example.com:8443/docs", trust.Local},
		{"https://example.com:8443/docs/a/b", trust.Local},
		{"http://wiki.test/pages/a/view", trust.Shared},
		{"https://wiki.test/pages/a/view", trust.Shared},
		{"https://api-7.corp.test:9999/v1/x", trust.Owner},

		{"https://example.com", trust.Untrusted},
		{"http://internal.example.com", trust.Untrusted},
		{"https://evil-example.com", trust.Untrusted},
		{"https://example.com.evil.net", trust.Untrusted},
		{"https://internal.example.com.evil.net", trust.Untrusted},
		{"https://internal.example.com@evil.net", trust.Untrusted},
		{"https://internal.example.com:pw@evil.net", trust.Untrusted},
		{"https://user@internal.example.com/", trust.Untrusted},
		{"https://evil.net/https://internal.example.com", trust.Untrusted},
		{"https://evil.net?https://internal.example.com", trust.Untrusted},
		{"https://evil.net#@internal.example.com", trust.Untrusted},
		{"https://evil.net\\@internal.example.com", trust.Untrusted},
		{"https://internal.example.com\\@evil.net", trust.Untrusted},
		{"https://internal.example.com:8080/", trust.Untrusted},
		{"https://internal.example.com%2eevil.net/", trust.Untrusted},
		{"https://internal。example.com/", trust.Untrusted},
		{"https://ınternal.example.com/", trust.Untrusted},
		{"https://.example.com/", trust.Untrusted},
		{"https://a..example.com/", trust.Untrusted},
		{"https:internal.example.com", trust.Untrusted},
		{"https:///internal.example.com", trust.Untrusted},
		{"//internal.example.com/x", trust.Untrusted},
		{"internal.example.com/x", trust.Untrusted},
		{"javascript:alert(1)//internal.example.com", trust.Untrusted},
		{"file:///internal.example.com", trust.Untrusted},
		{" https://internal.example.com", trust.Untrusted},
		{"https://internal.example.com/\n", trust.Untrusted},
		{"https://[::1]/", trust.Untrusted},
		{"https://example.com:8443/docs/../admin", trust.Untrusted},
		{"https://example.com:8443/docs/%2e%2e/admin", trust.Untrusted},
		{"https://example.com:8443/admin/..%2fdocs/x", trust.Untrusted},
		{"https://example.com:8443/admin/../docs/x", trust.Untrusted},
		{"https://example.com:8443/docs/%252e%252e/admin", trust.Untrusted},
		{"https://example.com:8443/docs/..;/admin", trust.Untrusted},
		{"https://example.com:8443//docs/x", trust.Untrusted},
		{"https://example.com:8443/docsx", trust.Untrusted},
		{"https://wiki.test/pages/a/b/view", trust.Untrusted},
		{"ftp://wiki.test/pages/a/view", trust.Untrusted},
		{"https://api-7.x.corp.test/v1/x", trust.Untrusted},
		{"https://%zz", trust.Untrusted},
	} {
		got := traits(s, "web_fetch", map[string]string{"url": tt.url})
		if got.Level != tt.want {
			t.Errorf("%s: got %s by %s, want %s", tt.url, got.Level, got.Rule, tt.want)
		}
	}
	for args, want := range map[string]trust.Level{
		`{"url":"https://a.example.com","href":"https://evil.net"}`: trust.Untrusted,
		`{"url":["https://a.example.com","https://b.example.com"]}`: trust.Local,
		`{"url":["https://a.example.com","https://evil.net"]}`:      trust.Untrusted,
		`{"url":"https://a.example.com","URL":"https://evil.net"}`:  trust.Untrusted,
		`{"url":{"href":"https://a.example.com"}}`:                  trust.Untrusted,
		`{"query":"https://a.example.com"}`:                         trust.Untrusted,
		`{"uri":"https://a.example.com"}`:                           trust.Local,
	} {
		if got := traits(s, "web_fetch", args); got.Level != want {
			t.Errorf("%s: got %s by %s, want %s", args, got.Level, got.Rule, want)
		}
	}
	if got := traits(s, "web_fetch", `{"url":"https://a.example.com"}`); !got.Sensitive || got.Sensitivity != trust.Private || got.Source {
		t.Errorf("got %+v, want a private response that is no source", got)
	}
	if got := traits(s, "web_read", `{"url":"https://wiki.test/pages/a/view"}`); got.Level != trust.Shared {
		t.Errorf("a pattern of tools: got %s by %s, want shared", got.Level, got.Rule)
	}
}

// HOOK-12: a rule that lowers trust takes what it is not sure of as well.
func TestURLRulesThatLowerAreLenient(t *testing.T) {
	s := mustParse(t, `
toolOutputTaints: {fetch: local}
trustRules: [{name: out, tools: [fetch], url: ["*://*.partner.test"], trust: external}]
`)
	for url, want := range map[string]trust.Level{
		"https://a.partner.test/x":       trust.External,
		"https://a.partner.test:8080/x":  trust.External,
		"https://me@a.partner.test/x":    trust.External,
		"https://a.partner.test/a//b/..": trust.External,
		"https://other.test/":            trust.Local,
		"no url":                         trust.Untrusted,
	} {
		if got := traits(s, "fetch", map[string]string{"url": url}); got.Level != want {
			t.Errorf("%s: got %s by %s, want %s", url, got.Level, got.Rule, want)
		}
	}
}

// HOOK-12: rules by path.
func TestPathRules(t *testing.T) {
	s := mustParse(t, `
trustRules:
  - {name: mine, tools: [read], path: [/srv/docs/**, "notes/*.md", "~/own/**", 'C:\Work\**'], trust: owner}
  - {name: downloads, tools: [read], path: ["~/Downloads/**", /tmp/**], trust: untrusted}
  - {name: keys, tools: [read], path: ["~/.ssh/**", .env, "/etc/shadow", "*.pem"], sensitivity: secret}
  - {name: open, tools: [read], path: /srv/docs/public/**, sensitivity: public}
`)
	for _, tt := range []struct {
		path string
		want trust.Level
		sens trust.Sensitivity
	}{
		{"/srv/docs/a.md", trust.Owner, trust.Internal},
		{"/srv/docs/./b//c.md", trust.Owner, trust.Internal},
		{"/srv/docs", trust.Owner, trust.Internal},
		{"/srv/docs/public/x", trust.Owner, trust.Public},
		{"notes/a.md", trust.Owner, trust.Internal},
		{"./notes/a.md", trust.Owner, trust.Internal},
		{"~/own/x", trust.Owner, trust.Internal},
		{`C:\Work\x`, trust.Owner, trust.Internal},

		{"/srv/docs/../secret", trust.Local, trust.Internal},
		{"/srv/docs/../docs/a.md", trust.Local, trust.Internal},
		{"/srv/docs/public/../../x", trust.Local, trust.Internal},
		{"/srv/docsx/a", trust.Local, trust.Internal},
		{"/WORK/docs/a", trust.Local, trust.Internal},
		{"work/docs/a", trust.Local, trust.Internal},
		{"notes/a/b.md", trust.Local, trust.Internal},
		{"../notes/a.md", trust.Local, trust.Internal},
		{"/home/me/own/x", trust.Local, trust.Internal},
		{"~/../own/x", trust.Local, trust.Internal},
		{"$HOME/own/x", trust.Local, trust.Internal},
		{"file:///srv/docs/a", trust.Local, trust.Internal},
		{`/srv/docs\..\..\etc`, trust.Local, trust.Internal},
		{`/srv\docs\a`, trust.Local, trust.Internal},

		{"~/Downloads/x", trust.Untrusted, trust.Internal},
		{"/home/me/downloads/x", trust.Untrusted, trust.Internal},
		{"/tmp/a/../b", trust.Untrusted, trust.Internal},
		{"../../tmp/x", trust.Untrusted, trust.Internal},

		{"~/.ssh/id_rsa", trust.Local, trust.Secret},
		{"/home/me/.SSH/id_rsa", trust.Local, trust.Secret},
		{"$HOME/.ssh/id_rsa", trust.Local, trust.Secret},
		{"${HOME}/.ssh/id_rsa", trust.Local, trust.Secret},
		{"~root/.ssh/id_rsa", trust.Local, trust.Secret},
		{"../../.ssh/id_rsa", trust.Local, trust.Secret},
		{"file:///home/me/.ssh/id_rsa", trust.Local, trust.Secret},
		{"project/.env", trust.Local, trust.Secret},
		{"/srv/x/../../etc/shadow", trust.Local, trust.Secret},
		{"../../../etc/shadow", trust.Local, trust.Secret},
		{"deep/down/key.PEM", trust.Local, trust.Secret},

		{"a\x00b", trust.Untrusted, trust.Secret},
		{"a\nb", trust.Untrusted, trust.Secret},
	} {
		got := traits(s, "read", map[string]string{"file_path": tt.path})
		if got.Level != tt.want || got.Sensitivity != tt.sens {
			t.Errorf("%q: got %s, %s by %s, want %s, %s", tt.path, got.Level, got.Sensitivity, got.Rule, tt.want, tt.sens)
		}
	}
	if got := traits(s, "read", `{"path":["/srv/docs/a","/srv/b"],"filename":"/srv/docs/c"}`); got.Level != trust.Local {
		t.Errorf("of several paths: got %s, want the least trusted", got.Level)
	}
}

// HOOK-12: rules with a condition, and the order of rules.
func TestTrustRulesWithConditions(t *testing.T) {
	s := mustParse(t, `
trustRules:
  - {name: dry, tools: [exec], when: 'has(args.dry) && args.dry == true', trust: owner}
  - {name: staging, tools: [exec], command: kubectl, when: 'args.context == "staging"', trust: shared}
  - {name: cluster, tools: [exec], command: kubectl, trust: external, sensitivity: private}
  - {name: all, tools: [canvas], trust: shared}
`)
	for _, tt := range []struct {
		args string
		want trust.Level
		rule string
	}{
		{`{"command":"curl x","dry":true}`, trust.Owner, "trustRules.dry"},
		{`{"command":"$X","dry":true}`, trust.Owner, "trustRules.dry"},
		{`{"dry":true}`, trust.Owner, "trustRules.dry"},
		{`{"command":"kubectl get pods","context":"staging"}`, trust.Shared, "trustRules.staging"},
		{`{"command":"kubectl get pods","context":"prod"}`, trust.External, "trustRules.cluster"},
		{`{"command":"kubectl get pods"}`, trust.Untrusted, "trustRules.staging"},
		{`{"command":"ls","context":"prod"}`, trust.Local, "toolOutputTaints.exec"},
	} {
		if got := traits(s, "exec", tt.args); got.Level != tt.want || got.Rule != tt.rule {
			t.Errorf("%s: got %s by %s, want %s by %s", tt.args, got.Level, got.Rule, tt.want, tt.rule)
		}
	}
	if got := s.Traits("canvas", nil); got.Level != trust.Local {
		t.Errorf("without arguments: got %s, want the table's level", got.Level)
	}
	if got := traits(s, "canvas", `{}`); got.Level != trust.Shared || got.Rule != "trustRules.all" {
		t.Errorf("a rule without conditions: got %s by %s", got.Level, got.Rule)
	}
}

func TestDetailIsWhatAPersonRecognises(t *testing.T) {
	s := classic()
	long := strings.Repeat("ä", 150)
	for args, want := range map[string]string{
		`{"url":"https://x","path":"p"}`: "https://x",
		`{"filePath":"a/b"}`:             "a/b",
		`{"command":["ls","-l"]}`:        "ls -l",
		`{"cmd":"ls"}`:                   "ls",
		`{"query":"x"}`:                  "",
		`{"url":7}`:                      "",
		`{"url":""}`:                     "",
		`{}`:                             "",
		`{"url":"` + long + `"}`:         long[:200] + "…",
		`{"url":"x` + long + `"}`:        "x" + long[:198] + "…",
	} {
		if diff := cmp.Diff(want, traits(s, "anything", args).Detail); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
}

// Which writes go to a file the agent reads back as its own.
func TestMemoryFiles(t *testing.T) {
	s := classic()
	for _, tt := range []struct{ name, tool, args, want string }{
		{"by name", "write", `{"path":"MEMORY.md"}`, "MEMORY.md"},
		{"anywhere", "edit", `{"file_path":"/home/me/ws/memory/2026-01-01.md"}`, "/home/me/ws/memory/2026-01-01.md"},
		{"in another case", "write_file", `{"filename":"soul.MD"}`, "soul.MD"},
		{"another spelling of the tool", "Str-Replace", `{"path":"x/CLAUDE.md"}`, "x/CLAUDE.md"},
		{"by a way around", "write", `{"path":"a/../AGENTS.md"}`, "a/../AGENTS.md"},
		{"in a patch", "apply_patch", `{"input":"*** Begin Patch\n*** Update File: notes.txt\n*** Update File: TOOLS.md\n"}`, "TOOLS.md"},
		{"in a diff", "apply_patch", `{"patch":"--- a/x\n+++ b/GEMINI.md\n@@"}`, "GEMINI.md"},
		{"deleted by a patch", "apply_patch", `{"patch":"*** Delete File: .cursorrules"}`, ".cursorrules"},
		{"one of several", "write", `{"path":["a","MEMORY.md"]}`, "MEMORY.md"},
		{"another file", "write", `{"path":"README.md"}`, ""},
		{"a name that only contains one", "write", `{"path":"NOTMEMORY.md"}`, ""},
		{"a tool that does not write", "read", `{"path":"MEMORY.md"}`, ""},
		{"a path that cannot be", "write", `{"path":"a\u0000"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := traits(s, tt.tool, tt.args).Memory; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	s = mustParse(t, `{memoryFiles: ["~/brain/**", diary.txt], memoryTools: ["put_*"]}`)
	for args, want := range map[string]string{`{"path":"/x/brain/a"}`: "/x/brain/a", `{"path":"diary.txt"}`: "diary.txt", `{"path":"MEMORY.md"}`: ""} {
		if got := traits(s, "put_file", args).Memory; got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
	if got := traits(s, "write", `{"path":"diary.txt"}`).Memory; got != "" {
		t.Errorf("a tool that is no longer listed: got %q", got)
	}
}
