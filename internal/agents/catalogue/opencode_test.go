package catalogue_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

func TestWhatOpencodeRunPutsInQuotesIsReadWithoutThem(t *testing.T) {
	a, err := catalogue.Find("opencode")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`".approve exec 12345678"`: `.approve exec 12345678`,
		`.approve exec 12345678`:   `.approve exec 12345678`,
		`"yes" and "no"`:           `"yes" and "no"`,
		`"`:                        `"`,
		`"open`:                    `"open`,
	} {
		quoted, err := strictjson.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := a.Decode("", []byte(`{"k":"chat.message","i":{"sessionID":"s"},"o":{"parts":[{"type":"text","text":`+string(quoted)+`}]}}`))
		if err != nil || e.Words != want {
			t.Errorf("%s: got %+v and %v, want the words %q", text, e, err, want)
		}
	}
}
