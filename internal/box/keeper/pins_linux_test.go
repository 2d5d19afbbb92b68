package keeper

import (
	"testing"
)

// BOX-02: what vouches for a list of packages is what the repository had when the first box of each session was made, and nothing later.
func TestWhatVouchesForAListOfPackages(t *testing.T) {
	folder := t.TempDir()
	old, changed := map[string]string{"package-lock.json": "aa", "requirements.txt": "bb"}, map[string]string{"package-lock.json": "cc", "requirements.txt": "bb"}
	has := func(session, workspace string, now map[string]string, want string) {
		t.Helper()
		if got := pinned(folder, session, workspace, now)["package-lock.json"]; got != want {
			t.Errorf("session %s in %s: %q, want %q", session, workspace, got, want)
		}
	}
	has("one", "/w", old, "aa")
	has("one", "/w", changed, "aa") // its box was made again: what it wrote meanwhile vouches for nothing
	has("other", "/elsewhere", changed, "cc")
	has("two", "/w", changed, "") // what another session left
	has("one", "/w", old, "")
	if got := pinned(folder, "two", "/w", old)["requirements.txt"]; got != "bb" {
		t.Errorf("a list that nobody changed: %q", got)
	}
	if got := pinned("/dev/null/pins", "one", "/w", old); len(got) > 0 {
		t.Errorf("what cannot be kept: %v", got)
	}
	for name, want := range map[string]bool{"package-lock.json": true, "a/requirements/dev.txt": true, "a.lock": false, "x/package-lock.json": true} {
		if isList(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
