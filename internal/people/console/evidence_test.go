package console

import (
	"strings"
	"testing"
)

// A word is marked as a word, and an address wherever it stands.
func TestMarksStandWhereValuesDo(t *testing.T) {
	for _, tc := range []struct{ text, value, want string }{
		{"state closed, action close", "close", "state closed, action <mark>close</mark>"},
		{"13 of 134", "13", "<mark>13</mark> of 134"},
		{"seehttps://evil.example/xnow", "https://evil.example/x", "see<mark>https://evil.example/x</mark>now"},
		{"closed", "close", "closed"},
		{"付款给张三吧", "张三", "付款给<mark>张三</mark>吧"},
		{"abcdefghij", "bcdefghi", "a<mark>bcdefghi</mark>j"},
	} {
		if got := marks(tc.text, []string{tc.value}).String(); !strings.Contains(got, tc.want) {
			t.Errorf("%q in %q: got %s, want %s", tc.value, tc.text, got, tc.want)
		}
	}
}
