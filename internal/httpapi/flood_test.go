package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
)

// All calls of a session that wait are denied at once, by its name; they are never approved so.
func TestAllCallsOfASessionAreDeniedAtOnce(t *testing.T) {
	w := open(t, byLevels)
	for _, s := range []string{"noisy", "quiet"} {
		w.say(s, "Hello")
		w.fetch(s)
	}
	for i := range 12 {
		want(t, w.before("noisy", "exec", fmt.Sprintf(`{"command":"echo %d"}`, i)), "tidemark.verdict", "confirm")
	}
	other := w.before("quiet", "exec", `{"command":"echo"}`).text("tidemark.approval.id")
	for body, status := range map[string]int{
		`{"session":"noisy","decision":"approve"}`:                         http.StatusBadRequest,
		`{"session":"noisy","ids":["` + other + `"],"decision":"deny"}`:    http.StatusBadRequest,
		`{"decision":"deny"}`:                                              http.StatusBadRequest,
		`{"session":"nobody-began-it","decision":"deny"}`:                  http.StatusNotFound,
		`{"session":"noisy","decision":"deny","reason":"no more of this"}`: http.StatusOK,
	} {
		if a := w.call(approverToken, http.MethodPost, "/v1/approvals", body); a.status != status {
			t.Errorf("%s: got %d, want %d: %s", body, a.status, status, a.raw)
		}
	}
	if left := w.get("/v1/approvals?state=pending").list("approvals"); len(left) != 1 {
		t.Errorf("%d calls wait, want that of the other session", len(left))
	}
	wantProblem(t, w.call(approverToken, http.MethodPost, "/v1/approvals", `{"session":"noisy","decision":"deny"}`),
		http.StatusNotFound, "no call of this session waits")
	if a := w.call(readerToken, http.MethodPost, "/v1/approvals", `{"session":"quiet","decision":"deny"}`); a.status != http.StatusForbidden {
		t.Errorf("a reader may: %d", a.status)
	}
}
