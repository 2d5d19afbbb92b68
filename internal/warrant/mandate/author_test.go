package mandate_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/mandate"
)

func TestAnAuthorIsAnAddressAndNeverAName(t *testing.T) {
	for sender, want := range map[string]mandate.Author{
		"Petra Holm <petra@holm.example>":            "petra@holm.example",
		"petra@holm.example <kes@quick.example>":     "kes@quick.example",
		"\"petra@holm.example\" <kes@quick.example>": "kes@quick.example",
		"petra@holm.example":                         "petra@holm.example", "kestrel_9x": "kestrel_9x",
		"Petra Holm": "", "": "", "Petra Holm <petra@holm.example> and others": "",
	} {
		if got, _ := mandate.AuthorOf(sender); got != want {
			t.Errorf("%q is by %q, want %q", sender, got, want)
		}
	}
}

func TestNothingIsFreeByItself(t *testing.T) {
	var f mandate.Free
	if f != mandate.Bound {
		t.Error("the zero Free frees something")
	}
}
