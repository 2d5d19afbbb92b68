package telegram_test

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/people/telegram"
)

func TestForeignTextCannotPassForOurs(t *testing.T) {
	tests := map[string]struct {
		m    telegram.Message
		last string
		want string
	}{
		"plain":               {message("Tool", "exec"), "", "T\n\nTool: exec"},
		"an end":              {message("Tool", "exec"), "Denied", "T\n\nTool: exec\n\nDenied"},
		"a forged field":      {message("Args", "x\nRule: none\n\nApproved"), "", "T\n\nArgs:\n│ x\n│ Rule: none\n│ \n│ Approved"},
		"a forged name":       {message("a\nb", "x"), "", "T\n\na b: x"},
		"other line breaks":   {message("Args", "a\r\nb\u2028c"), "", "T\n\nArgs:\n│ a\n│ b\n│ c"},
		"a text turned round": {message("Args", "evil\u202etxt.exe"), "", "T\n\nArgs: evil\uFFFDtxt.exe"},
		"invisible letters":   {message("Args", "pay\u200bpal \x1b[2J\x00"), "", "T\n\nArgs: pay\uFFFDpal \uFFFD[2J\uFFFD"},
		"what is no text":     {message("Args", "a\xff\xfeb"), "", "T\n\nArgs: a\uFFFDb"},
		"an end of two lines": {message("Tool", "exec"), "a\nb", "T\n\nTool: exec\n\na b"},
		"markup":              {message("Args", "<b>*x*</b> [a](b)"), "", "T\n\nArgs: <b>*x*</b> [a](b)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := telegram.Render(tt.m, tt.last); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func message(name, value string) telegram.Message {
	return telegram.Message{Title: "T", Fields: []telegram.Field{{name, value}}}
}

func TestWhatIsTooLongIsCutAndSaysSo(t *testing.T) {
	m := telegram.Message{Title: "T", Fields: []telegram.Field{{"Args", strings.Repeat("x", 10_000)}, {"Rule", "sink.exec"}}}
	got := telegram.Render(m, "Denied")
	if !strings.Contains(got, "characters)\nRule: sink.exec\n\nDenied") || units(got) > telegram.MaxText {
		t.Errorf("got %d units, ending in %q", units(got), got[len(got)-80:])
	}
	m.Fields = make([]telegram.Field, 40)
	if got := telegram.Render(m, ""); !strings.Contains(got, "… 16 more fields") {
		t.Errorf("got %q, want the fields that are missing counted", got)
	}
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// Whatever the values are, the text fits, is valid, and has the end in full.
func TestEveryTextFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"x", "é", "😀", "\n", "ab\n", "\u202e"}).Draw(t, "unit"), rapid.IntRange(0, 6000).Draw(t, "times"))
		}))
		m := telegram.Message{Title: text.Draw(t, "title")}
		for range rapid.IntRange(0, 30).Draw(t, "fields") {
			m.Fields = append(m.Fields, telegram.Field{Name: text.Draw(t, "name"), Value: text.Draw(t, "value")})
		}
		got := telegram.Render(m, "Denied by @alice")
		if units(got) > telegram.MaxText || !utf8.ValidString(got) || !strings.HasSuffix(got, "\n\nDenied by @alice") {
			t.Fatalf("%d units, valid %v: %q", units(got), utf8.ValidString(got), got)
		}
	})
}

func FuzzRender(f *testing.F) {
	f.Add("title", "name", "value", "end")
	f.Add("", "", "a\nb", "")
	f.Add("\u202e", "x\r\n", strings.Repeat("😀", 5000), "\xff")
	f.Fuzz(func(t *testing.T, title, name, value, last string) {
		got := telegram.Render(telegram.Message{Title: title, Fields: []telegram.Field{{name, value}, {"Rule", "r"}}}, last)
		if units(got) > telegram.MaxText || !utf8.ValidString(got) || strings.ContainsAny(got, "\r\x00\u202e\u2028") {
			t.Fatalf("got %q", got)
		}
		ours := 0
		for line := range strings.SplitSeq(got, "\n") {
			if strings.HasPrefix(line, "Rule:") {
				ours++
			}
		}
		if !strings.Contains(title+name+last, "Rule:") && ours != 1 {
			t.Fatalf("%d lines read as the rule: %q", ours, got)
		}
	})
}

func FuzzParseCallback(f *testing.F) {
	for _, s := range []string{"tm1.ABC.0", "tm1.ABC.7", "tm1.ABC.8", "tm1..0", "tm1.A.B.0", "tm1.ABC.", "x", "", "tm1.ABC.00", "TM1.ABC.0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		token, button, ok := telegram.ParseCallback(data)
		if !ok {
			return
		}
		if telegram.CallbackData(token, button) != data || token == "" || len(data) > 64 {
			t.Fatalf("%q was read as %q and %d", data, token, button)
		}
	})
}

func FuzzParseUpdates(f *testing.F) {
	for _, s := range []string{
		`{"ok":true,"result":[]}`, `{"ok":true,"result":null}`, `{"ok":true}`, `{}`, ``, `[]`, `{"ok":false,"error_code":409,"description":"x"}`,
		`{"ok":false,"error_code":429,"parameters":{"retry_after":9999999999999}}`, `{"ok":true,"result":[{"update_id":5},{"update_id":"x"},7]}`,
		`{"ok":true,"result":[{"update_id":5,"callback_query":{"id":"1","from":{"id":2},"message":{"message_id":3,"chat":{"id":4}},"data":"tm1.A.0"}}]}`,
		`{"ok":true,"result":[{"update_id":5,"callback_query":{"id":"1","id":"2"}}]}`, `{"ok":true,"result":[{"update_id":5}]} trailing`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		updates, taps, err := telegram.ParseUpdates(answer)
		if taps > updates || err != nil && updates > 0 {
			t.Fatalf("%d updates, %d taps, %v", updates, taps, err)
		}
	})
}
