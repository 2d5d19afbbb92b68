package toolinfo_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// BEY-01
func TestListedActsMakeTheGravestOfThemTheAct(t *testing.T) {
	for _, c := range []struct {
		name, tool, schema string
		want               toolinfo.Act
	}{
		{"one of them deletes", "entries", `{"properties":{"action":{"enum":["list","add","delete"]}}}`, toolinfo.Delete},
		{"what is done to the thing counts", "member_admin", `{"properties":{"operation":{"enum":["list","add"]}}}`, toolinfo.Grant},
		{"all of them look", "entries", `{"properties":{"action":{"enum":["list","get"]}}}`, toolinfo.Read},
		{"one is not understood", "entries", `{"properties":{"action":{"enum":["list","zap"]}}}`, toolinfo.Unknown},
		{"a search that filters by acts", "list_entries", `{"properties":{"action":{"enum":["create","delete"]}}}`, toolinfo.Read},
		{"a look that has to choose", "view_entries", `{"properties":{"action":{"enum":["show","delete"]}},"required":["action"]}`, toolinfo.Delete},
		{"never milder", "delete_entries", `{"properties":{"action":{"enum":["list"]}},"required":["action"]}`, toolinfo.Delete},
		{"alternatives of constants", "entries", `{"properties":{"op":{"oneOf":[{"const":"get"},{"const":"send"}]}}}`, toolinfo.Send},
		{"no choice of acts", "entries", `{"properties":{"colour":{"enum":["delete"]}}}`, toolinfo.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			if m := toolinfo.Of(tool.Definition{Name: c.tool, Schema: []byte(c.schema)}); m.Act != c.want {
				t.Errorf("got %s, want %s (%s)", m.Act, c.want, m.Why)
			}
		})
	}
}

// BEY-01
func TestACallIsReadAsWhatItChooses(t *testing.T) {
	m := toolinfo.Of(tool.Definition{Name: "entries", Schema: []byte(`{"properties":{"action":{"enum":["list","delete"]},"title":{"type":"string"}}}`)})
	for _, c := range []struct {
		path  string
		value any
		want  toolinfo.Act
		ok    bool
	}{
		{"action", "list", toolinfo.Read, true},
		{"action", "delete", toolinfo.Delete, true},
		{"action", "zap", toolinfo.Unknown, false},
		{"action", 3.0, toolinfo.Unknown, false},
		{"title", "delete", toolinfo.Unknown, false},
		{"tool", "MAILBOX_SEND_LETTER", toolinfo.Send, true},
		{"method", "DELETE", toolinfo.Delete, true},
		{"payment_method", "transfer", toolinfo.Unknown, false},
	} {
		if a, ok := m.Choice(c.path, c.value); a != c.want || ok != c.ok {
			t.Errorf("%s = %v: got %s %t, want %s %t", c.path, c.value, a, ok, c.want, c.ok)
		}
	}
}

// BEY-01
func TestAStatementIsAnOrder(t *testing.T) {
	text := `{"type":"string","description":"the SQL statement"}`
	for _, c := range []struct {
		name, tool, about, schema string
		want                      string
	}{
		{"a question that takes no statement", "query_database", "", `{"properties":{"limit":{"type":"integer"}}}`, "read none source"},
		{"one that takes any", "query_database", "", `{"properties":{"statement":` + text + `}}`, "execute high source sink"},
		{"one whose name only reads", "read_rows", "Runs a read-only SQL query.", `{"properties":{"sql":{"type":"string"}}}`, "read high source sink"},
		{"one that says so in its description alone", "query_warehouse", "Runs a read-only SQL query.", `{"properties":{"sql":{"type":"string"}}}`, "execute high source sink"},
		{"one that says so and writes", "read_rows", "Runs a read-only SQL query or an update.", `{"properties":{"sql":{"type":"string"}}}`, "execute high source sink"},
		{"a new table by statement", "create_chart_table", "", `{"properties":{"query":` + text + `}}`, "execute high source sink"},
		{"a search of words", "search_entries", "", `{"properties":{"query":{"type":"string"}}}`, "read none source"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := toolinfo.Of(tool.Definition{Name: c.tool, Description: c.about, Schema: []byte(c.schema)})
			if flagged(m) != c.want {
				t.Errorf("got %s, want %s (%s)", flagged(m), c.want, m.Why)
			}
		})
	}
}

// BEY-01
func TestALookThatDecidesWritesOrTakesASecretIsNone(t *testing.T) {
	for _, c := range []struct{ name, tool, schema, want string }{
		{"a decision", "review_entry", `{"properties":{"decision":{"type":"string"}}}`, "grant high sink"},
		{"a filter by outcome", "review_entry", `{"properties":{"with_decision":{"type":"boolean"}}}`, "read none source"},
		{"a place to write", "download_entry", `{"properties":{"savePath":{"type":"string"}}}`, "create low"},
		{"a place it may write to", "view_entry", `{"properties":{"filename":{"type":"string","description":"file to save it to"}}}`, "read low source"},
		{"a place it reads", "view_entry", `{"properties":{"filename":{"type":"string"}}}`, "read none source"},
		{"a secret of the user's", "check_entry", `{"properties":{"password":{"type":"string"}}}`, "read high source sink"},
		{"the key of a service", "check_entry", `{"properties":{"api_key":{"type":"string"}}}`, "read none source"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if m := toolinfo.Of(tool.Definition{Name: c.tool, Schema: []byte(c.schema)}); flagged(m) != c.want {
				t.Errorf("got %s, want %s (%s)", flagged(m), c.want, m.Why)
			}
		})
	}
}

// BEY-01
func TestIdentifiersDecisionsAndAudiencesAreReadAsSuch(t *testing.T) {
	for _, c := range []struct {
		tool, path string
		value      any
		want       string
		decides    bool
		writes     bool
	}{
		{"refund_order", "payment_slip", "ps_3Nq8Zk21aa", "selector id!", false, false},
		{"refund_order", "payment", "ps_3Nq8Zk21aa", "selector id!", false, false},
		{"refund_order", "payment", "12.50", "amount money", false, false},
		{"refund_order", "amount_eur", "12.50", "amount money", false, false},
		{"refund_order", "payment_type", "card", "control none", false, false},
		{"create_entry", "ledger_number", "7", "selector id!", false, false},
		{"create_entry", "page_number", "7", "selector none", false, false},
		{"create_bill", "account_code", "200", "selector id!", false, false},
		{"share_folder", "share_type", "anyone", "target audience", true, false},
		{"share_folder", "share_type", "user", "control none", true, false},
		{"share_folder", "visibility", "PUBLIC", "target audience", true, false},
		{"share_folder", "role", "editor", "control none", true, false},
		{"share_folder", "force", true, "control none", true, false},
		{"find_letters", "visibility", "public", "control none", false, false},
		{"edit_sheet", "path", "/tmp/x", "selector path!", false, true},
		{"edit_sheet", "cwd", "/tmp", "selector path!", false, false},
	} {
		m := toolinfo.Of(tool.Definition{Name: c.tool})
		p := m.Resolve(c.path, c.value)
		if text, ok := c.value.(string); ok && m.Seen(m.Unseen(c.path), text) != p {
			t.Errorf("%s %s = %s: in two steps it is for something else", c.tool, c.path, text)
		}
		if brief(p) != c.want || p.Decides != c.decides || p.Writes != c.writes {
			t.Errorf("%s %s = %v: got %s, decides %t, writes %t, want %s, %t, %t", c.tool, c.path, c.value,
				brief(p), p.Decides, p.Writes, c.want, c.decides, c.writes)
		}
	}
	listed := toolinfo.Of(tool.Definition{Name: "share_folder", Schema: []byte(
		`{"properties":{"kind":{"enum":["user","anyone"]},"event":{"enum":["APPROVE","COMMENT"]}}}`)})
	for path, want := range map[string]string{"kind": "target audience", "event": "control none"} {
		if p := listed.Resolve(path, "anyone"); path == "kind" && brief(p) != want || !p.Decides {
			t.Errorf("%s: got %s, decides %t, want %s and a decision", path, brief(p), p.Decides, want)
		}
	}
}
