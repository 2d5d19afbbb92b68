package verifier_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/outside/verifier"
)

// An answer is an allow only if it is one object that says so, and a reason is one short
// line.
//
// VER-05 VER-06
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		`{"decision":"allow"}`, `{"decision":"deny","reason":"no"}`, `{"decision":"allow","reason":7}`, `{"decision":"deny","reason":[]}`,
		`{"decision":"ALLOW"}`, `{"decision":true}`, `{"decision":"maybe"}`, `{"decision":"allow","Decision":"deny"}`, `{"decision":"allow","decision":"deny"}`,
		`{"decision":"allow"}{"decision":"deny"}`, `null`, `[]`, ``, `"allow"`, `{"decision":"\u0061llow","reason":"a\r\n\u202e\u0000b"}`, "{\"decision\":\"allow\",\"reason\":\"\xff\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		allow, reason, err := verifier.ParseAnswer(body)
		if allow && err != nil {
			t.Fatalf("%q is an allow and an error: %v", body, err)
		}
		var fields map[string]any
		if allow && (strictjson.Unmarshal(body, &fields) != nil || fields["decision"] != "allow") {
			t.Fatalf("%q is taken for an allow", body)
		}
		if utf8.RuneCountInString(reason) > 500 || strings.ContainsFunc(reason, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Fatalf("%q has the reason %q", body, reason)
		}
	})
}

// Text without a dollar sign stays, an escaped text comes back, and what a variable holds
// is put in as it is.
//
// VER-02
func FuzzExpand(f *testing.F) {
	for _, s := range []string{"", "x", "$", "$$", "${A}", "${A", "${}", "${9}", "$A", "a${A}b$$c${B}", "${${A}}", "$${A}", "é${A}", "${A}}", "\x00${A\x00}"} {
		f.Add(s, "value ${A} $$")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		env := func(name string) (string, bool) { return value, name == "A" || name == "B" }
		out, refs, wrong := verifier.Expand(text, env)
		if !strings.Contains(text, "$") && (out != text || refs+wrong > 0) {
			t.Fatalf("Expand(%q) = %q with %d references, %d wrong", text, out, refs, wrong)
		}
		escaped := strings.ReplaceAll(text, "$", "$$")
		if out, refs, wrong := verifier.Expand(escaped, env); out != text || refs+wrong > 0 {
			t.Fatalf("Expand(%q) = %q, want %q", escaped, out, text)
		}
		if out, refs, _ := verifier.Expand(escaped+"${A}", env); out != text+value || refs != 1 {
			t.Fatalf("Expand(%q) = %q, want %q", escaped+"${A}", out, text+value)
		}
		if refs > strings.Count(text, "${") {
			t.Fatalf("Expand(%q) found %d references", text, refs)
		}
	})
}

// Whatever stands in the file, a Config without errors is one that New takes.
//
// VER-02
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"{enabled: true, webhook: {url: https://v.example, headers: {A: '${VERIFIER_TOKEN}'}, secret: '${VERIFIER_HMAC_SECRET}', timeout: 5}}",
		"{enabled: true, scope: {include: [exec]}, failMode: allow, telegram: {botToken: '${BOT_TOKEN}', chatId: 5}}",
		"{enabled: false, scope: {exclude: x}, cacheSeconds: 5}", "{enabled: true, webhook: {url: 'http://[::1]:5'}}", "[]", "{enabled: true, telegram: }",
	} {
		f.Add(s, "{enabled: true, telegram: {enabled: true}, scope: {exclude: [read]}}")
	}
	f.Fuzz(func(t *testing.T, section, agent string) {
		file, faults := configfile.Parse("f.yaml", []byte(section))
		own, more := configfile.Parse("f.yaml", []byte(agent))
		if faults.Err() != nil || more.Err() != nil {
			return
		}
		var d configfile.Decoder
		c := verifier.Decode(&d, file, env, true)
		a := verifier.DecodeAgent(&d, own, c, env, true)
		if d.Faults.Err() != nil {
			return
		}
		if _, err := verifier.New(verifier.Options{Config: *c, Agents: map[string]verifier.Override{"a": a}, Telegram: answers(true, nil)}); err != nil {
			t.Fatalf("%q and %q: no fault, but %v", section, agent, err)
		}
	})
}
