package warrant_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// A tool that nobody defined looks only by a verb that does nothing else: with another it is asked for, like what acts.
func TestPropertyAnUntoldLookIsAskedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		verb := rapid.SampledFrom([]string{"recall", "tell", "monitor", "track", "obtain", "load", "listen", "retrieve", "extract", "convert", "decode",
			"dump", "collect", "verify", "display", "audit", "navigate", "open", "measure"}).Draw(t, "verb")
		thing := rapid.SampledFrom([]string{"batch", "phone", "prize", "guest", "zub", "neighbour", "tooth", "position", "lock", "plugin"}).Draw(t, "thing")
		key := rapid.SampledFrom([]string{"id", "what", "name", thing, "reference"}).Draw(t, "key")
		c := offered("Read the page of the station and say what is new.")
		if w := of(c, verb+"_"+thing, fmt.Sprintf(`{%q:"Q-17"}`, key)); !asked(w) {
			t.Fatalf("%s_%s runs with %s: %s", verb, thing, key, w)
		}
	})
}

// What ends a look in a name ends it, and so does a statement behind another.
func TestALookThatGoesOn(t *testing.T) {
	for tool, args := range map[string]string{
		"show_to_public":    `{"item":"RE-7"}`,
		"list_for_sale":     `{"item":"RE-7"}`,
		"get_and_apply":     `{"item":"RE-7"}`,
		"read_then_forward": `{"item":"RE-7"}`,
		"view_on_board":     `{"item":"RE-7"}`,
		"lookup_rows":       `{"table":"users","where":"1=1; update users set pin=0"}`,
		"search_rows":       `{"filter":"x';\n drop table users; --"}`,
		"list_rows":         `{"where":"1=1 ; DELETE FROM users"}`,
	} {
		if w := of(offered("What is new at the station?"), tool, args); !asked(w) {
			t.Errorf("%s %s runs: %s", tool, args, w)
		}
	}
}

// Plain looks are free, and others where the owner asks for them.
func TestAPlainLookIsFree(t *testing.T) {
	for _, tt := range []struct{ said, tool, args string }{
		{"What is new?", "get_letter", `{"id":"Q-17"}`},
		{"What is new?", "search_letters", `{"query":"rent","limit":5}`},
		{"What is new?", "search_for_letters", `{"query":"rent"}`},
		{"What is new?", "list_letters_by_sender", `{"sender":"Ann"}`},
		{"What is new?", "check_status", `{}`},
		{"Track parcel Q-17", "track_parcel", `{"parcel":"Q-17"}`},
		{"Monitor station Q-17", "monitor_station", `{"station":"Q-17"}`},
		{"What is in the news?", "open_page", `{"url":"https://news.example/a"}`},
	} {
		c := world(tt.said)
		read(c, "list_news", `{}`, `[{"url":"https://news.example/a"}]`)
		if w := of(c, tt.tool, tt.args); asked(w) {
			t.Errorf("%q: asked about %s %s: %s", tt.said, tt.tool, tt.args, w)
		}
	}
}
