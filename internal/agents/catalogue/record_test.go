package catalogue

import "testing"

func TestWhereHostsKeepTheirRecords(t *testing.T) {
	env := func(vars map[string]string) func(string) string {
		return func(name string) string { return vars[name] }
	}
	home := map[string]string{"HOME": "/home/ann"}
	for name, tt := range map[string]struct{ got, want string }{
		"copilot":            {copilotKept(env(home), "a-1"), "/home/ann/.copilot/session-state/a-1/events.jsonl"},
		"copilot, elsewhere": {copilotKept(env(map[string]string{"COPILOT_HOME": "/c"}), "a-1"), "/c/session-state/a-1/events.jsonl"},
		"opencode":           {opencodeKept(env(home), "ses_1"), "sqlite:/home/ann/.local/share/opencode/opencode.db#ses_1"},
		"no home":            {copilotKept(env(nil), "a-1"), ""},
		"a home of its own":  {copilotKept(env(map[string]string{"COPILOT_HOME": "here"}), "a-1"), ""},
		"no session":         {opencodeKept(env(home), ""), ""},
		"a path":             {copilotKept(env(home), "../../x"), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", name, tt.got, tt.want)
		}
	}
	if file, session := FromStored("sqlite:/a#b/o.db#ses_1"); file != "/a#b/o.db" || session != "ses_1" {
		t.Errorf("got %q and %q", file, session)
	}
}

func TestWhatACallSays(t *testing.T) {
	a, b := Sum("bash", []byte(`{"command":"ls","mode":"sync"}`)), Sum("bash", []byte(`{"mode": "sync", "command":"ls"}`))
	if a == "" || a != b || a == Sum("bash", []byte(`{"command":"ls"}`)) || a == Sum("create", []byte(`{"command":"ls","mode":"sync"}`)) {
		t.Error("two calls that say the same are not one, or two that do not are")
	}
	if Sum("bash", []byte(`{`)) != "" || Sum("report_intent", []byte(`{}`)) != "" {
		t.Error("what cannot be told was told")
	}
}
