package console_test

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the log is changed behind the server's back
)

// CON-35: one record that somebody broke is said where it matters, with what to do; every other page and session goes on.
func TestABrokenRecordIsSaid(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	w := serveOn(t, data, "")
	w.ask("s-bad")
	good := w.ask("s-good")
	tokens := w.app.Tokens // the next start knows hashes of them
	w.stop()
	db, err := sql.Open("sqlite", filepath.Join(data, "tidemark.db"))
	do(t, err)
	changed, err := db.ExecContext(t.Context(), `UPDATE records SET body = x'7b' WHERE kind = 'call.decided' AND
		session = (SELECT id FROM sessions WHERE name = 's-bad') AND CAST(body AS TEXT) LIKE '%send_email%'`)
	do(t, err)
	if n, err := changed.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%d records were changed, %v", n, err)
	}
	do(t, db.Close())
	w = serveOn(t, data, "")
	w.app.Tokens = tokens
	p := w.signIn("admin")
	for path, want := range map[string]string{
		"/console/":                              "send_email",
		"/console/q/" + good.ID:                  evil,
		"/console/session?key=s-good":            "came back, untrusted",
		"/console/sessions":                      "Its log cannot be read: its calls are refused. Run: tidemark log verify",
		"/console/audit":                         "cannot be read: verify the log",
		"/console/audit/verify":                  "Everything after these places is in doubt",
		"/console/audit?effect=confirm":          "send_email",
		"/console/policy":                        "<h1",
		"/console/policy?show=edit":              "<h1",
		"/console/health":                        "<h1",
		"/console/labels":                        "Nothing was written from a tainted context",
		"/console/keys":                          "No passkey is enrolled",
		"/console/servers":                       "No MCP server was used",
		"/console/session?key=s-good&show=graph": "<svg ",
	} {
		p.get(path).want(t, http.StatusOK, want)
	}
	for _, path := range []string{"/console/session?key=s-bad", "/console/session?key=s-bad&show=graph", "/console/reports"} {
		if a := p.get(path); a.status == http.StatusOK && !strings.Contains(a.body, "cannot be read") ||
			a.status != http.StatusOK && !strings.Contains(a.body, "Run: tidemark doctor") && !strings.Contains(a.body, "cannot be read") {
			t.Errorf("%s: %d, and it does not say what to do: %s", path, a.status, inTags.ReplaceAllString(a.body, " "))
		}
	}
	if status, _ := w.api(http.MethodGet, "/v1/approvals", w.app.Tokens.Reader, nil, nil); status != http.StatusOK {
		t.Errorf("the questions of the others: %d", status)
	}
}
