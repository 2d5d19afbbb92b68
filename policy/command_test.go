package policy_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/trust"
)

// HOOK-12: exec is what it runs.
func TestCommandsDecideTheTrustOfExec(t *testing.T) {
	s := classic()
	for _, tt := range []struct {
		command string
		want    trust.Level
		rule    string
	}{
		{"ls -la", trust.Local, "toolOutputTaints.exec"},
		{"git status && make test | tee log", trust.Local, "toolOutputTaints.exec"},
		{"[ -f x ] && [[ -d y ]] && echo *.go {a,b}", trust.Local, "toolOutputTaints.exec"},
		{"make -j$(nproc) && docker run -v $PWD:/src img", trust.Local, "toolOutputTaints.exec"},
		{"echo curl", trust.Local, "toolOutputTaints.exec"},
		{"command -v curl", trust.Local, "toolOutputTaints.exec"},
		{"bash build.sh --fast", trust.Local, "toolOutputTaints.exec"},
		{"bash -- build.sh", trust.Local, "toolOutputTaints.exec"},
		{"bash --version", trust.Local, "toolOutputTaints.exec"},
		{"# nothing", trust.Local, "toolOutputTaints.exec"},
		{"trap - EXIT; exec >log 2>&1", trust.Local, "toolOutputTaints.exec"},

		{"himalaya list", trust.External, "trustRules.mail-cli"},
		{"gog gmail search newer_than:1d", trust.External, "trustRules.mail-cli"},
		{"gog --account me gmail read", trust.External, "trustRules.mail-cli"},
		{"ls; mail -H", trust.External, "trustRules.mail-cli"},
		{"/usr/bin/mutt -R", trust.External, "trustRules.mail-cli"},
		{"gh issue view 7", trust.External, "trustRules.forge-cli"},

		{"curl https://example.com", trust.Untrusted, "trustRules.web-client"},
		{"himalaya list | grep x; wget -qO- x", trust.Untrusted, "trustRules.web-client"},
		{"echo $(curl x)", trust.Untrusted, "trustRules.web-client"},
		{"echo `curl x`", trust.Untrusted, "trustRules.web-client"},
		{"cat <(curl x)", trust.Untrusted, "trustRules.web-client"},
		{"X=$(curl x) env", trust.Untrusted, "trustRules.web-client"},
		{"if true; then curl x; fi", trust.Untrusted, "trustRules.web-client"},
		{"cu\\\nrl x", trust.Untrusted, "trustRules.web-client"},
		{"\"cu\\\nrl\" x", trust.Untrusted, "trustRules.web-client"},
		{"f() { curl x; }; f", trust.Untrusted, "trustRules.web-client"},
		{"c\\url x", trust.Untrusted, "trustRules.web-client"},
		{`"cu"'rl' x`, trust.Untrusted, "trustRules.web-client"},
		{`"cur\l" x`, trust.Local, "toolOutputTaints.exec"}, // a program of that very name
		{"CURL.EXE x", trust.Untrusted, "trustRules.web-client"},
		{"bash -c 'curl x'", trust.Untrusted, "trustRules.web-client"},
		{"bash -euo pipefail -c 'ls && curl x'", trust.Untrusted, "trustRules.web-client"},
		{"bash --rcfile f -lc \"sh -c 'curl x'\"", trust.Untrusted, "trustRules.web-client"},
		{"eval 'curl x'", trust.Untrusted, "trustRules.web-client"},
		{"trap 'curl x' EXIT", trust.Untrusted, "trustRules.web-client"},
		{"sudo -u bob -- curl x", trust.Untrusted, "trustRules.web-client"},
		{"sudo -ubob A=1 curl x", trust.Untrusted, "trustRules.web-client"},
		{"env -i FOO=1 nohup nice -n 5 timeout -s KILL 5 curl x", trust.Untrusted, "trustRules.web-client"},
		{"sudo --preserve-env curl x", trust.Untrusted, "trustRules.web-client"},
		{"nice -10 curl x", trust.Untrusted, "trustRules.web-client"},
		{"env -S 'curl x'", trust.Untrusted, "trustRules.web-client"},
		{"ls | xargs -n1 curl", trust.Untrusted, "trustRules.web-client"},
		{"find . -name x -exec curl {} \\;", trust.Untrusted, "trustRules.web-client"},
		{"find . -exec curl {} + -print", trust.Untrusted, "trustRules.web-client"},
		{"find . -ok curl", trust.Untrusted, "trustRules.web-client"},
		{"ssh host 'cd /tmp && curl x'", trust.Untrusted, "trustRules.web-client"},
		{"docker exec -it box curl x", trust.Untrusted, "trustRules.web-client"},
		{"watch -n 5 curl x", trust.Untrusted, "trustRules.web-client"},
		{"time curl x", trust.Untrusted, "trustRules.web-client"},
		{"busybox wget x", trust.Untrusted, "trustRules.web-client"},
		{"$'\\x63url' x", trust.Untrusted, "trustRules.web-client"},
		{"echo 'curl x' | bash", trust.Untrusted, "trustRules.web-client"},
		{"bash <<< 'curl x'", trust.Untrusted, "trustRules.web-client"},
		{"bash <<'E'\ncurl x\nE", trust.Untrusted, "trustRules.web-client"},
		{"X=curl; $X x", trust.Untrusted, "trustRules.web-client"},
		{"X='curl x'; $X", trust.Untrusted, "trustRules.web-client"},
		{"$(echo curl) x", trust.Untrusted, "trustRules.web-client"},
		{"echo Y3VybCB4 | base64 -d | sh", trust.Untrusted, "trustRules.web-client"},
		{"for p in ls curl; do $p x; done", trust.Untrusted, "trustRules.web-client"},
		{"echo ls | bash", trust.Local, "toolOutputTaints.exec"},

		{"$CMD x", trust.Untrusted, "command-unreadable"},
		{"$(which tool) x", trust.Untrusted, "command-unreadable"},
		{"cu* x", trust.Untrusted, "command-unreadable"},
		{"{curl,x}", trust.Untrusted, "command-unreadable"},
		{`"$X"`, trust.Untrusted, "command-unreadable"},
		{"bash -c \"$X\"", trust.Untrusted, "command-unreadable"},
		{"bash $X", trust.Untrusted, "command-unreadable"},
		{"bash -", trust.Untrusted, "command-unreadable"},
		{"cat f | bash", trust.Untrusted, "command-unreadable"},
		{"bash -s < f", trust.Untrusted, "command-unreadable"},
		{"eval $X", trust.Untrusted, "command-unreadable"},
		{"ssh host $X", trust.Untrusted, "command-unreadable"},
		{"ls | xargs sh -c", trust.Untrusted, "command-unreadable"},
		{"env $X", trust.Untrusted, "command-unreadable"},
		{"'' x", trust.Untrusted, "command-unreadable"},
		{"echo 'open", trust.Untrusted, "command-unreadable"},
		{"if then", trust.Untrusted, "command-unreadable"},
		{strings.Repeat("$(", 300), trust.Untrusted, "command-unreadable"},
		{"echo " + strings.Repeat("x", 70<<10), trust.Untrusted, "command-unreadable"},
		{strings.Repeat("sh -c 'sh -c ", 8), trust.Untrusted, "command-unreadable"},
		{strings.Repeat("env ", 20) + "ls", trust.Untrusted, "command-unreadable"},
		{strings.Repeat("ls;", 600), trust.Untrusted, "command-unreadable"},
		{strings.Repeat("sudo -x eval ", 10) + "ls", trust.Untrusted, "command-unreadable"},
	} {
		name := tt.command
		if len(name) > 60 {
			name = name[:60]
		}
		t.Run(name, func(t *testing.T) {
			got := traits(s, "exec", map[string]string{"command": tt.command})
			if got.Level != tt.want || got.Rule != tt.rule {
				t.Errorf("got %s by %s, want %s by %s", got.Level, got.Rule, tt.want, tt.rule)
			}
			if got.Source != (tt.want <= trust.External) {
				t.Errorf("got source %t of %s content", got.Source, tt.want)
			}
		})
	}
}

func TestTheShapesOfACommand(t *testing.T) {
	s := mustParse(t, "toolOutputTaints: {bash: local}")
	for _, tt := range []struct {
		name, tool, args string
		want             trust.Level
	}{
		{"no command", "exec", `{"timeout": 5}`, trust.Local},
		{"an empty command", "exec", `{"command": ""}`, trust.Local},
		{"a null command", "exec", `{"command": null}`, trust.Local},
		{"a list of words", "exec", `{"command": ["curl", "x"]}`, trust.Untrusted},
		{"a list with a shell in it", "exec", `{"cmd": ["bash", "-lc", "curl x"]}`, trust.Untrusted},
		{"a list is not expanded", "exec", `{"command": ["echo", "$(curl x)"]}`, trust.Local},
		{"an empty list", "exec", `{"command": []}`, trust.Local},
		{"words apart from the program", "exec", `{"command": "bash", "args": ["-c", "curl x"]}`, trust.Untrusted},
		{"another spelling of the field", "exec", `{"Command": "curl x"}`, trust.Untrusted},
		{"two fields", "exec", `{"command": "ls", "script": "curl x"}`, trust.Untrusted},
		{"a command that is no text", "exec", `{"command": 7}`, trust.Untrusted},
		{"a list that is not of text", "exec", `{"command": ["curl", 7]}`, trust.Untrusted},
		{"arguments that cannot be read", "exec", `{"command": "ls"`, trust.Untrusted},
		{"arguments that are no object", "exec", `["ls"]`, trust.Untrusted},
		{"no arguments at all", "exec", ``, trust.Local},
		{"a tool the file calls local", "bash", `{"command": "curl x"}`, trust.Untrusted},
		{"a tool nobody trusts is not improved", "shell", `{"command": "mail"}`, trust.Untrusted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := traits(s, tt.tool, tt.args); got.Level != tt.want {
				t.Errorf("got %s by %s, want %s", got.Level, got.Rule, tt.want)
			}
		})
	}
}

const commandRules = `
trustRules:
  - {name: vcs, tools: [exec], command: [git status, "git log", make], trust: owner}
  - {name: db, tools: [exec], command: [psql, "aws secretsmanager"], sensitivity: secret}
  - {name: own-api, tools: [exec], command: "Curl Localhost:*", trust: shared}
`

// HOOK-12: a rule that improves trust must be sure, one that tightens need not be.
func TestCommandRulesImproveOnlyWhatIsSure(t *testing.T) {
	s := mustParse(t, commandRules)
	for _, tt := range []struct {
		command   string
		want      trust.Level
		sensitive bool
	}{
		{"git status", trust.Owner, false},
		{"/usr/bin/git status -s", trust.Owner, false},
		{"git status && make", trust.Owner, false},
		{"git status && ls", trust.Local, false},
		{"git status; curl x", trust.Untrusted, false},
		{"git diff", trust.Local, false},
		{"git -c core.pager=evil status", trust.Local, false},
		{"git $X", trust.Local, false},
		{"./git status", trust.Local, false},
		{"/tmp/git status", trust.Local, false},
		{"PATH=/tmp git status", trust.Local, false},
		{"git() { evil; }; git status", trust.Local, false},
		{"alias git=evil; git status", trust.Local, false},
		{"sudo git status", trust.Local, false},
		{"docker run git status", trust.Local, false},
		{"git", trust.Local, false},
		{"psql -c 'select 1'", trust.Local, true},
		{"/opt/pg/psql", trust.Local, true},
		{"aws --region x secretsmanager get-secret-value", trust.Local, true},
		{"aws $X", trust.Local, true},
		{"aws s3 ls", trust.Local, false},
		{"$X", trust.Untrusted, true},
		{"curl Localhost:8080/x", trust.Shared, false},
		{"curl -s Localhost:8080/x", trust.Untrusted, false},
		{"sudo curl Localhost:8080/x", trust.Untrusted, false},
		{"cat urls | xargs curl Localhost:8080/x", trust.Untrusted, false},
		{"curl localhost:8080/x", trust.Untrusted, false},
	} {
		got := traits(s, "exec", map[string]string{"command": tt.command})
		if got.Level != tt.want || got.Sensitive != tt.sensitive {
			t.Errorf("%s: got %s, sensitive %t, want %s, %t", tt.command, got.Level, got.Sensitive, tt.want, tt.sensitive)
		}
	}
}
