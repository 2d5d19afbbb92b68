package warrant_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
)

// WAR-06
func TestAnActIsSaidWhereAClauseAsksForIt(t *testing.T) {
	for _, c := range []struct {
		said, tool, args string
		has              warrant.Evidence
	}{
		{"Delete the parcel prc-1", "remove_parcel", `{"parcel_id":"prc-1"}`, warrant.Said},
		{"Please could you remove parcel prc-1?", "remove_parcel", `{"parcel_id":"prc-1"}`, warrant.Said},
		{"Who removed parcel prc-1?", "remove_parcel", `{"parcel_id":"prc-1"}`, warrant.Nothing},
		{"Do not remove parcel prc-1", "remove_parcel", `{"parcel_id":"prc-1"}`, warrant.Nothing},
		{"Look at parcel prc-1, but don't delete it", "remove_parcel", `{"parcel_id":"prc-1"}`, warrant.Nothing},
		{"Remove parcel prc-1. No changes, just say what you would do.", "remove_parcel", `{"parcel_id":"prc-1"}`, warrant.Nothing},
		{"Don't forget to remove parcel prc-1", "remove_parcel", `{"parcel_id":"prc-1"}`, warrant.Said},
		{"Do what the note says", "pay_invoice", `{"recipient":"Tor Vik","amount":20}`, warrant.Delegated},
	} {
		if s := slot(t, of(argued(c.said), c.tool, c.args), warrant.Act); s.Has != c.has {
			t.Errorf("%q: %s has %s (%s), want %s", c.said, c.tool, s.Has, s.Why, c.has)
		}
	}
}

// WAR-06
func TestSeveralLanguagesAskForTheSameAct(t *testing.T) {
	for _, said := range []string{
		"Delete the file barge-7", "Lösche die Datei barge-7", "Supprime le fichier barge-7", "Elimina el archivo barge-7", "Exclua o arquivo barge-7",
		"Elimina il file barge-7", "Verwijder het bestand barge-7", "请删除文件 barge-7", "ファイル barge-7 を削除してください", "barge-7 파일을 삭제해 주세요", "احذف الملف barge-7",
	} {
		if w := of(argued(said), "delete_file", `{"file_id":"barge-7"}`); asked(w) {
			t.Errorf("%q: asked: %+v", said, w.Slots)
		}
	}
	for _, said := range []string{
		"Do not delete the file barge-7", "Lösche die Datei barge-7 nicht", "Ne supprime pas le fichier barge-7", "No elimines el archivo barge-7",
		"不要删除文件 barge-7", "ファイル barge-7 を削除しないでください",
	} {
		if w := of(argued(said), "delete_file", `{"file_id":"barge-7"}`); !asked(w) {
			t.Errorf("%q: not asked", said)
		}
	}
}

// WAR-06
func TestAYesKeepsTheRequestBefore(t *testing.T) {
	if w := of(argued("Remove parcel prc-1", "yes"), "remove_parcel", `{"parcel_id":"prc-1"}`); asked(w) {
		t.Errorf("asked after yes: %+v", w.Slots)
	}
	w := of(argued("Remove parcel prc-1", "Thanks. How many parcels with a red label are left on the shelf?"), "remove_parcel", `{"parcel_id":"prc-1"}`)
	if !asked(w) {
		t.Error("a request of an earlier turn still counts after a new one")
	}
}

func TestAButtonIsJudgedByWhatItSays(t *testing.T) {
	press := `{"element":"Pay now button","ref":"e9"}`
	if w := of(berths("Which berths are free in June?"), "browser_click", press); !asked(w) {
		t.Error("a payment nobody wants is clicked")
	}
	if w := of(berths("Pay for the berth"), "browser_click", press); asked(w) {
		t.Errorf("asked about the payment the user wants: %+v", w.Slots)
	}
	if w := of(berths("Which berths are free in June?"), "browser_click", `{"element":"Next month","ref":"e3"}`); asked(w) {
		t.Errorf("asked about turning a page: %+v", w.Slots)
	}
}

func TestAContractIsEvidenceForItsActsAndNoOthers(t *testing.T) {
	c := argued("Sort out the shelf")
	c.Contract(&warrant.Contract{Acts: []warrant.Promise{{Tool: "remove_parcel", Args: map[string]string{"parcel_id": "lookup"}}}})
	if s := slot(t, of(c, "remove_parcel", `{"parcel_id":"prc-1"}`), warrant.Act); s.Has != warrant.Said {
		t.Errorf("an act of the contract has %s", s.Has)
	}
	if s := slot(t, of(c, "remove_parcel", `{"parcel_id":"prc-1"}`), warrant.Object); s.Has != warrant.Nothing {
		t.Errorf("a value that was to be looked up and stands nowhere has %s", s.Has)
	}
	if s := slot(t, of(c, "pay_invoice", `{"recipient":"Tor Vik","amount":20}`), warrant.Act); s.Has != warrant.Nothing {
		t.Errorf("an act outside the contract has %s", s.Has)
	}
}
