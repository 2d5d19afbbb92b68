package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/text"
)

func TestACutFallsBetweenCharacters(t *testing.T) {
	for _, tt := range []struct {
		s                                    string
		n                                    int
		head, tail, cover, first, mark, fits string
	}{
		{"", 0, "", "", "", "", "", ""},
		{"", 3, "", "", "", "", "", ""},
		{"abc", -1, "", "", "", "", "…", ""},
		{"abc", 0, "", "", "", "", "…", ""},
		{"abc", 1, "a", "c", "a", "a", "a…", "…"},
		{"abc", 2, "ab", "bc", "ab", "ab", "ab…", "a…"},
		{"abc", 3, "abc", "abc", "abc", "abc", "abc", "abc"},
		{"abc", 9, "abc", "abc", "abc", "abc", "abc", "abc"},
		{"éèê", 2, "é", "ê", "é", "éè", "éè…", "é…"},
		{"éèê", 3, "é", "ê", "éè", "éèê", "éèê", "éèê"},
		{"a€b", 2, "a", "b", "a€", "a€", "a€…", "a…"},
		{"a€b", 3, "a", "b", "a€", "a€b", "a€b", "a€b"},
		{"a€b", 4, "a€", "€b", "a€", "a€b", "a€b", "a€b"},
		{"😀😀", 1, "", "", "😀", "😀", "😀…", "…"},
		{"a\xffbc", 2, "a\xff", "bc", "a\xff", "a\xff", "a\xff…", "a…"},
		{"a\xffbc", 3, "a\xffb", "\xffbc", "a\xffb", "a\xffb", "a\xffb…", "a\uFFFD…"},
		{"a\x80\x80b", 2, "", "b", "a\x80", "a\x80", "a\x80…", "a…"},
	} {
		for name, c := range map[string]struct{ got, want string }{
			"Head":  {text.Head(tt.s, tt.n), tt.head},
			"Tail":  {text.Tail(tt.s, tt.n), tt.tail},
			"Cover": {text.Cover(tt.s, tt.n), tt.cover},
			"First": {text.First(tt.s, tt.n), tt.first},
			"Mark":  {text.Mark(tt.s, tt.n), tt.mark},
			"Fit":   {text.Fit(tt.s, tt.n), tt.fits},
		} {
			if c.got != c.want {
				t.Errorf("%s(%q, %d) = %q, want %q", name, tt.s, tt.n, c.got, c.want)
			}
		}
	}
}

func TestALineShowsWhatCanBeSeen(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
		read int
	}{
		{"", 5, "", 0},
		{"abc", 0, "", 0},
		{"abc", -1, "", 0},
		{"abcdef", 3, "abc", 3},
		{"  a \t\n b", 9, "a b", 8},
		{"a\u2028b\u2029c", 9, "a b c", 9},
		{"a\x1b[31mb\x7f", 9, "a [31mb ", 8},
		{"a\u202eb\u200bc\U000e0041", 9, "abc", 13},
		{"é\xffü", 9, "é\uFFFDü", 5},
		{"ab  ", 9, "ab ", 4},
		{"a  b", 2, "a ", 2},
	} {
		if line, read := text.Line([]byte(tt.s), tt.n); line != tt.want || read != tt.read {
			t.Errorf("Line(%q, %d) = %q, %d, want %q, %d", tt.s, tt.n, line, read, tt.want, tt.read)
		}
	}
}

func FuzzACutKeepsItsBoundsAndWholeCharacters(f *testing.F) {
	for _, s := range []string{"", "abc", "a€b", "éèê", "😀", "a\xff\x80b", "a\n\u202e\u200b b"} {
		for n := -1; n < 5; n++ {
			f.Add(s, n)
		}
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		head, tail, cover := text.Head(s, n), text.Tail(s, n), text.Cover(s, n)
		first, mark, fits := text.First(s, n), text.Mark(s, n), text.Fit(s, n)
		line, read := text.Line([]byte(s), n)
		least := max(n, 0)
		switch {
		case !strings.HasPrefix(s, head) || len(head) > least:
			t.Errorf("head %q", head)
		case !strings.HasSuffix(s, tail) || len(tail) > least:
			t.Errorf("tail %q", tail)
		case !strings.HasPrefix(s, cover) || len(cover) < min(least, len(s)) || len(cover) >= least+utf8.UTFMax:
			t.Errorf("cover %q", cover)
		case !strings.HasPrefix(s, first) || utf8.RuneCountInString(first) != min(least, utf8.RuneCountInString(s)):
			t.Errorf("first %q", first)
		case mark != s && mark != first+text.Ellipsis:
			t.Errorf("mark %q", mark)
		case utf8.RuneCountInString(fits) > least || fits != s && n > 0 && !strings.HasSuffix(fits, text.Ellipsis):
			t.Errorf("fits %q", fits)
		case utf8.RuneCountInString(line) > least || strings.ContainsAny(line, "\n\r\t\x00") || strings.Contains(line, "  "):
			t.Errorf("line %q", line)
		case read > len(s) || !utf8.ValidString(line):
			t.Errorf("line %q of %d bytes", line, read)
		}
		if !utf8.ValidString(s) {
			return
		}
		for _, part := range []string{head, tail, cover, first, mark, fits} {
			if !utf8.ValidString(part) {
				t.Errorf("%q is cut inside a character", part)
			}
		}
	})
}

// A cut falls between words and says that it is one; what is one long word is cut, and what fits is left.
func TestWordsAreNotCut(t *testing.T) {
	for _, tc := range []struct {
		in   string
		n    int
		want string
	}{
		{"one two three", 13, "one two three"},
		{"one two three", 12, "one two…"},
		{"one two three", 8, "one two…"},
		{"one two three", 7, "one…"},
		{"a " + strings.Repeat("x", 60), 50, "a " + strings.Repeat("x", 47) + "…"},
		{"un été à la mer", 9, "un été à…"},
		{"三四五六七八", 4, "三四五…"},
		{"", 5, ""},
	} {
		if got := text.Words(tc.in, tc.n); got != tc.want {
			t.Errorf("Words(%q, %d) = %q, want %q", tc.in, tc.n, got, tc.want)
		}
	}
}
