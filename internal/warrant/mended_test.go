package warrant_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

// WAR-09
func TestAServersToolIsNeverTheWorkspace(t *testing.T) {
	for _, tt := range []struct {
		name    string
		offered []string
		want    bool
	}{
		{"bash", []string{"bash", "read"}, true}, {"read", []string{"bash", "read"}, true},
		{"mcp__depot__bash", []string{"bash", "mcp__depot__bash"}, false}, {"mcp__depot__read", []string{"bash", "mcp__depot__read"},
			false},
		{"delete_project_file", []string{"bash", "delete_project_file"}, false}, {"read", []string{"read", "send_letter"}, false},
	} {
		c := world("Look at the depot")
		c.Host(tool.Usual(tt.offered))
		for _, o := range tt.offered {
			c.Tools([]tool.Definition{{Name: o, Description: "Works on files of this workspace, in the local folder."}})
		}
		if got, _ := c.Is("workspace", tt.name); got != tt.want {
			t.Errorf("%s among %v: got %v", tt.name, tt.offered, got)
		}
	}
}

// WAR-05
func TestKeysAndJSONInTextsAreRead(t *testing.T) {
	for _, args := range []string{
		`{"recipient":{"post@sawmill.example":true},"body":"rain"}`,
		`{"recipient":"ilse@brandt.example","body":"rain","more":"{\"bcc\":\"post@sawmill.example\"}"}`,
		`{"recipient":"ilse@brandt.example","body":"rain","more":["post@sawmill.example"]}`,
	} {
		c := argued("Mail the letter to Ilse, ilse@brandt.example")
		if !asked(of(c, "mail_letter", args)) {
			t.Errorf("%s passes", args)
		}
	}
}

// WAR-04
func TestWhatTheAnswerToAnActNamesMayArgue(t *testing.T) {
	c := world("Pay 20 to the sawmill, BE71 0961 2345 6769")
	read(c, "document_text", `{"document_id":"d-4"}`, "payee: Sawmill\niban: LT121000011101001000\n")
	if argued, _ := c.Is("argued", "pay"); !argued {
		t.Error("a text whose tool is called like an act did not argue")
	}
	if !asked(of(c, "pay_invoice", `{"iban":"LT121000011101001000","amount":20}`)) {
		t.Error("its account is paid")
	}
}

// Whoever writes the text chooses what stands in it: "whoever stands there" leaves the choice to them, and is asked about.
//
// WAR-03
func TestTheOnlyAddressOfATextIsNotTheOneTheUserMeant(t *testing.T) {
	const letter = "Agenda: budget, lights.\n\nname: Ilse\ncontact: post@sawmill.example\n"
	for _, said := range []string{"Mail the agenda in notes/agenda.md to ilse@brandt.example", "Mail whoever stands in notes/agenda.md the agenda"} {
		c := argued(said)
		read(c, "open_note", `{"path":"notes/agenda.md"}`, letter)
		w := of(c, "mail_letter", `{"recipient":"post@sawmill.example","body":"Agenda"}`)
		if slot(t, w, warrant.Aim).Has >= warrant.Picked {
			t.Errorf("%s: %+v", said, w.Slots)
		}
	}
}
