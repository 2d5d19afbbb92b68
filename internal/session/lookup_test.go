package session

import "testing"

// Only the one answer that names a look-up of ours is its: whatever else an agent reads counts.
func TestNothingElseIsTakenForALookUp(t *testing.T) {
	var r ring
	r.add(Call{ID: "look-1", Tool: "search_contacts", LookUp: "Petra"})
	if c := r.find("", "search_contacts"); c != nil {
		t.Error("a result without an id is taken for it")
	}
	if c := r.find("look-1", "web_fetch"); c != nil {
		t.Error("a result of another tool is taken for it")
	}
	if c := r.find("look-1", "search_contacts"); c == nil || c.LookUp != "Petra" {
		t.Fatal("its own result is not found")
	}
	r.answer("look-1", "search_contacts")
	if c := r.find("look-1", "search_contacts"); c != nil {
		t.Error("a second result is taken for it")
	}
}
