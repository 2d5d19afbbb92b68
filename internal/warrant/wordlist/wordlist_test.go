package wordlist_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/warrant/wordlist"
)

func TestLists(t *testing.T) {
	l := wordlist.Read("// two lists\nfruit :\napple pear\n\nplum\nhours : one\n1 uno eins\n2 due // no comment here\n")
	if diff := cmp.Diff(map[string]bool{"apple": true, "pear": true, "plum": true}, l.Set("fruit")); diff != "" {
		t.Error(diff)
	}
	want := map[string]string{"uno": "1", "eins": "1", "due": "2", "//": "2", "no": "2", "comment": "2", "here": "2"}
	if diff := cmp.Diff(want, l.ByFirst("hours")); diff != "" {
		t.Error(diff)
	}
	defer func() {
		if recover() == nil {
			t.Error("a list that is not there is read")
		}
	}()
	l.Set("stones")
}
