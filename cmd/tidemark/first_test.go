package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// In a home with nothing in it, with the programs and one agent: three commands to a blocked attack on the
// screen. (scripts/e2e does the same with a real agent.) How long it took is printed, and not judged.
func TestThreeCommandsToABlockedAttack(t *testing.T) {
	first, err := filepath.Abs("../../scripts/first")
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t)
	prompt := []string{"claude", "-p", "Read https://news.example/ and tell me when the harbour opens"}
	unguarded, err := h.command(t, filepath.Join(h.bin, prompt[0]), prompt[1:]...).CombinedOutput()
	if err != nil || !strings.Contains(string(unguarded), "SENT") {
		t.Fatalf("without hooks the attack must work, or nothing is shown: %v\n%s", err, unguarded)
	}
	cmd := h.command(t, first, prompt...)
	cmd.Env = append(cmd.Env, "FIRST_HOME="+h.home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"$ tidemark init\n", "blocked: refused by the server, rule canary", "not done: ", "$ tidemark log\n", "a blocked attack after three commands and "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "SENT") || strings.Count(string(out), "\n$ ") != 3 {
		t.Errorf("want three commands and nothing sent:\n%s", out)
	}
	if exists(filepath.Join(h.data(), "server.json")) || exists(filepath.Join(h.home, ".claude", "settings.json")) {
		t.Error("what it put in is still there")
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	t.Log(lines[len(lines)-1])
}

// Where nothing was blocked the script says so.
func TestTheFirstMinutesFailWhereNothingIsBlocked(t *testing.T) {
	first, err := filepath.Abs("../../scripts/first")
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t)
	cmd := h.command(t, first, "true")
	cmd.Env = append(cmd.Env, "FIRST_HOME="+h.home)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "no call was blocked") {
		t.Errorf("got %v\n%s", err, out)
	}
}

// Who slips is told what may have been meant.
func TestSlipsAreTold(t *testing.T) {
	data := t.TempDir()
	for line, want := range map[string]string{
		"try x --raed y":                     "did you mean --read?",
		"audit --snce 1h":                    "did you mean --since?",
		"service instal":                     "did you mean install?",
		"mcp lst":                            "did you mean list?",
		"install clade":                      "did you mean claude?",
		"uninstall codx":                     "did you mean codex?",
		"completion fsh":                     "fish",
		"audit --since tomorrow":             "is no time",
		"audit --since 1h --from 2026-03-01": "give one",
	} {
		_, errOut, code := command(t, append(strings.Fields(line), "--data", data)...)
		if code != exitUsage || !strings.Contains(errOut, want) {
			t.Errorf("%s: exit %d, %s; want %q", line, code, errOut, want)
		}
	}
	if out, _, code := command(t, "--version"); code != exitOK || !strings.HasPrefix(out, "tidemark ") {
		t.Errorf("--version: exit %d, %s", code, out)
	}
	if out, _, code := command(t, "--version", "--json"); code != exitOK || !strings.Contains(out, `"version"`) {
		t.Errorf("--version --json: exit %d, %s", code, out)
	}
	out, _, _ := command(t, "__complete", "install", "cla")
	if !strings.Contains(out, "claude") {
		t.Errorf("completion does not know agents: %s", out)
	}
}

// N25: a call is tried as the agent's hook would tell of it, and what was read is worth what its address is.
func TestTryKnowsTheNamesOfAgentsAndAddresses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	writeFile(t, file, "rules:\n  - {name: no-shell, tools: [exec], when: 'args.command.contains(\"rm\")', effect: deny}\n"+
		"trustRules:\n  - {name: wiki, tools: [web_fetch], url: [\"https://wiki.corp.example/**\"], trust: local}\n"+
		"toolOverrides: {deploy: {untrusted: hide}}\n")
	for line, want := range map[string]string{
		`try Bash {"command":"rm\tx"} --agent claude`:                                              "exec: deny\n",
		`try shell {"command":["rm","x"]} --agent codex`:                                           "exec: deny\n",
		`try Bash {"command":"rm\tx"}`:                                                             "bash: ",
		`try deploy {} --said go --read a --url https://wiki.corp.example/x`:                       "deploy: a",
		`try deploy {} --said go --read a --from WebFetch --agent claude --url https://x.example/`: "deploy: deny\n",
		`try deploy {} --said go --read a --url https://wiki.corp.example.evil.example/`:           "deploy: deny\n",
	} {
		out, errOut, code := command(t, append(strings.Fields(line), "--config", file, "--data", t.TempDir())...)
		if code != exitOK || !strings.HasPrefix(out, want) {
			t.Errorf("%s: exit %d, %s%s; want %q", line, code, out, errOut, want)
		}
	}
}
