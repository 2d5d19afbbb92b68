package event_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
)

// A program of before reads a form it does not know as nothing, bans and exceptions included. It cannot read this one at all, and says
// which record and which field that is; and this program does the same with one that comes after it.
//
// MAN-06
func TestAFormThatIsNotKnownIsRefusedByName(t *testing.T) {
	for form, want := range map[event.Form]string{0: `{"contract":{}}`, 1: `{"contract":{"form":1}}`, 2: `{"contract":{"form":2}}`, 3: `{"contract":{"form":"contract-3"}}`} {
		e := event.Event{Kind: event.ContractDrawn, Contract: &event.Contract{Form: form}}
		body, err := e.Body()
		if err != nil || string(body) != want {
			t.Errorf("form %d is %s, %v, want %s", form, body, err, want)
		}
		got, err := event.FromRecord(audit.Record{Kind: string(event.ContractDrawn), Body: body})
		if err != nil || got.Contract.Form != form {
			t.Errorf("read back %d as %+v, %v", form, got.Contract, err)
		}
	}
	var before struct {
		Contract struct {
			Form int `json:"form"`
		} `json:"contract"`
	}
	if err := strictjson.Unmarshal([]byte(`{"contract":{"form":"contract-3"}}`), &before); err == nil || !strings.Contains(err.Error(), "/contract/form") {
		t.Errorf("a program of before reads %+v, %v", before, err)
	}
	for _, body := range []string{`{"contract":{"form":"contract-4"}}`, `{"contract":{"form":4}}`, `{"contract":{"form":"x"}}`, `{"contract":{"form":-1}}`, `{"contract":{"form":"contract-"}}`} {
		if e, err := event.FromRecord(audit.Record{Session: "s", Seq: 7, Kind: string(event.ContractDrawn), Body: []byte(body)}); err == nil || !strings.Contains(err.Error(), "record 7") {
			t.Errorf("%s: %+v, %v", body, e.Contract, err)
		}
	}
}
