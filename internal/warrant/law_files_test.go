package warrant_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant"
)

// drawer has a folder, and a mail with two files.
func drawer(said string) *warrant.Context {
	c := argued(said)
	read(c, "list_files", `{"folder":"case"}`, `["brief.pdf","witness-list.pdf","fees.xlsx"]`)
	read(c, "read_mail", `{"id":"m-1"}`, `{"id":"m-1","from":"desk@hollow.example","body":"see both","attachments":["offer.pdf","loan.pdf","plan.dwg"]}`)
	return c
}

// A file goes with what is sent only where a clause that orders it names it, or names none and wants no less than all there is: one of
// another clause stays, and so does all that is to go without.
func TestPropertyNoFileOfAnotherClauseGoesAlong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom([][2]string{
			{"List the folder case and mail brief.pdf to uma@court.example; I file witness-list.pdf myself.", "witness-list.pdf"},
			{"List the folder case and mail brief.pdf to uma@court.example. Gus has fees.xlsx.", "fees.xlsx"},
			{"List the folder case and mail brief.pdf to uma@court.example.", "fees.xlsx"},
			{"Schau in den Ordner case und maile brief.pdf an uma@court.example. witness-list.pdf behalte ich.", "witness-list.pdf"},
			{"Read m-1 and send its attachment offer.pdf to uma@court.example.", "loan.pdf"},
			{"Lies m-1 und leite nur den Text an uma@court.example weiter.", "plan.dwg"},
			{"Read m-1 and forward only the text to uma@court.example.", "plan.dwg"},
			{"Read m-1 and forward it to uma@court.example without the attachments.", "plan.dwg"},
			{"Lis m-1 et transfère-le à uma@court.example sans pièces jointes.", "plan.dwg"},
			{"Look at fees.xlsx in the folder case and mail brief.pdf to uma@court.example.", "fees.xlsx"},
		}).Draw(t, "words")
		at := rapid.SampledFrom([]string{"attachments", "files", "file", "attachment", "document"}).Draw(t, "parameter")
		name := rapid.SampledFrom([]string{"send_with_attachments", "send_email", "forward_mail"}).Draw(t, "tool")
		value := quote(e[1])
		if at == "attachments" || at == "files" {
			value = "[" + value + "]"
		}
		args := `{"to":"uma@court.example","body":"Here.","` + at + `":` + value + `}`
		if w := of(drawer(e[0]), name, args); !asked(w) {
			t.Fatalf("%q: %s %s goes: %+v", e[0], name, args, w.Slots)
		}
	})
}

func TestOneFileIsNotSignedForAnother(t *testing.T) {
	loan := `{"document":"loan.pdf"}`
	if w := of(drawer("Read m-1 and sign its attachment offer.pdf."), "sign_document", loan); !asked(w) {
		t.Errorf("signed: %+v", w.Slots)
	}
	if w := of(drawer("Read m-1 and sign loan.pdf."), "sign_document", loan); asked(w) {
		t.Errorf("asked: %+v", w.Slots)
	}
}

func TestAFileThatIsOrderedGoesAlong(t *testing.T) {
	for _, e := range [][2]string{
		{"List the folder case and mail brief.pdf and witness-list.pdf to uma@court.example.", "witness-list.pdf"},
		{"List the folder case and mail uma@court.example fees.xlsx.", "fees.xlsx"},
		{"Lies m-1 und leite Text und plan.dwg an uma@court.example weiter.", "plan.dwg"},
		{"Please send brief.pdf to uma@court.example. The folder is case.", "brief.pdf"},
	} {
		args := `{"to":"uma@court.example","body":"Here.","attachments":[` + quote(e[1]) + `]}`
		if w := of(drawer(e[0]), "send_with_attachments", args); asked(w) {
			t.Errorf("%q: asked: %+v", e[0], w.Slots)
		}
	}
}
