package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/httpapi"
)

// asking is the owner's context in a host that asks about held calls in a dialog of its own.
func asking(session, host string) string {
	return strings.TrimSuffix(owner(session), "}") + fmt.Sprintf(`,"dialog":%q}`, host)
}

// A bearer of the agent token closes no question by saying that the call ran, unless it was
// handed to the host's dialog before; what it then says is recorded as its claim.
//
// WAR-10
func TestOnlyAQuestionThatWasHandedToADialogIsClosedByAResult(t *testing.T) {
	tests := map[string]struct {
		before string // the dialog that is named before the call; "": none
		proofs bool
		closes bool
	}{
		"handed over":            {before: "claude", closes: true},
		"never handed over":      {},
		"to another host":        {before: "copilot"},
		"where proofs are asked": {before: "claude", proofs: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			proof := ""
			if tt.proofs {
				proof = "passkey"
			}
			w := open(t, "", func(o *httpapi.Options) { o.Proof = func() string { return proof } })
			held(w, "s")
			w.alone = true
			ctx := owner("s")
			if tt.before != "" {
				ctx = asking("s", tt.before)
			}
			a := w.must(hook.NameBeforeToolCall, `{"toolName":"exec","params":`+command+`}`, ctx)
			if offered := a.at("tidemark.approval.dialog") == true; a.at("block") != true || offered != (tt.before != "" && !tt.proofs) {
				t.Fatalf("got %s, want it held, for the dialog where there is one", a.raw)
			}
			w.must(hook.NameAfterToolCall, `{"toolName":"exec","params":`+command+`,"result":"ok"}`, asking("s", "claude"))
			open, err := w.monitor.Questions(t.Context())
			if err != nil || len(open) == 0 == !tt.closes {
				t.Errorf("open questions: got %+v, %v; want it closed: %v", open, err, tt.closes)
			}
		})
	}
}

// A dialog without a plain name is refused, and changes nothing.
func TestADialogHasAPlainName(t *testing.T) {
	w := open(t, "")
	held(w, "s")
	a := w.hook(hook.NameBeforeToolCall, `{"toolName":"exec","params":`+command+`}`, asking("s", "the owner"))
	if a.status != http.StatusBadRequest || !strings.Contains(string(a.raw), "ctx.dialog: a host is named by") {
		t.Errorf("got %d %s, want 400 and what is wrong", a.status, a.raw)
	}
}
