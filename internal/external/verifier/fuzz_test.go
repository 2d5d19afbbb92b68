package verifier_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/external/verifier"
	"github.com/tidemark/tidemark/internal/people/telegram"
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
		d := &endpoint.Reader{Decoder: &configfile.Decoder{}, Env: env, Production: true}
		c := verifier.Decode(d, file, chatOf(d, new(*telegram.Settings)))
		a := verifier.DecodeAgent(d, own, c)
		if d.Faults.Err() != nil {
			return
		}
		if _, err := verifier.New(verifier.Options{Config: *c, Agents: map[string]verifier.Override{"a": a}, Telegram: answers(true, nil)}); err != nil {
			t.Fatalf("%q and %q: no fault, but %v", section, agent, err)
		}
	})
}
