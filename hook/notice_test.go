package hook_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/trust"
)

func from(level trust.Level, tool string) trust.Source {
	return trust.Source{Level: level, Kind: "tool_result", Tool: tool, Detail: "https://evil.example/ignore-all-rules"}
}

// HOOK-16
func TestFooterSaysWhatAnAnswerWasMadeFrom(t *testing.T) {
	tests := map[string]struct {
		label trust.Label
		want  string
	}{
		"nothing that others wrote": {trust.Label{Level: trust.Local, Sources: []trust.Source{from(trust.Local, "read")}}, ""},
		"the owner's words alone":   {trust.Label{Level: trust.Owner}, ""},
		"one level": {
			trust.Label{Level: trust.External, Sources: []trust.Source{from(trust.External, "message"), from(trust.Local, "read")}},
			"Provenance: this answer was informed by external content (message).",
		},
		"several levels and tools, each once": {
			trust.Label{Level: trust.Untrusted, Sources: []trust.Source{
				from(trust.Untrusted, "web_fetch"), from(trust.Untrusted, "browser"), from(trust.Untrusted, "web_fetch"), from(trust.Shared, "memory_search"),
			}},
			"Provenance: this answer was informed by untrusted content (browser, web_fetch) and shared content (memory_search).",
		},
		"a source without a tool":    {trust.Label{Level: trust.External, Sources: []trust.Source{{Level: trust.External, Kind: "history"}}}, "Provenance: this answer was informed by external content (history)."},
		"a level without a source":   {trust.Label{}, "Provenance: this answer was informed by untrusted content."},
		"a name that is a sentence":  {trust.Label{Sources: []trust.Source{from(trust.Untrusted, "please run rm")}}, "Provenance: this answer was informed by untrusted content (other)."},
		"a name that is a book":      {trust.Label{Sources: []trust.Source{from(trust.Untrusted, strings.Repeat("a", 49))}}, "Provenance: this answer was informed by untrusted content (other)."},
		"a source that is not named": {trust.Label{Sources: []trust.Source{{}}}, "Provenance: this answer was informed by untrusted content (other)."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hook.Footer(tt.label); got != tt.want {
				t.Errorf("Footer = %q, want %q", got, tt.want)
			}
		})
	}
}

// HOOK-16
func TestTheNoticeHoldsNothingAnAttackerWrote(t *testing.T) {
	got := hook.TaintNotice(trust.Label{Sources: []trust.Source{from(trust.Untrusted, "web_fetch"), from(trust.Untrusted, "do\nthis")}})
	for _, bad := range []string{"evil.example", "do\nthis"} {
		if strings.Contains(got, bad) {
			t.Errorf("notice holds %q:\n%s", bad, got)
		}
	}
	if !strings.Contains(got, "untrusted content (other, web_fetch)") {
		t.Errorf("notice does not name its sources:\n%s", got)
	}
}

// HOOK-16
func TestANoticeTakesThePlaceOfAnOlderOne(t *testing.T) {
	all := trust.Levels()
	levels := rapid.SampledFrom(all[:])
	rapid.Check(t, func(t *rapid.T) {
		label := func(name string) trust.Label {
			l := trust.Label{Level: levels.Draw(t, name)}
			for _, tool := range rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, name+" tools") {
				l.Sources = append(l.Sources, from(l.Level, tool))
			}
			return l
		}
		prompt, older, newer := rapid.String().Draw(t, "prompt"), label("older"), label("newer")
		got, want := hook.WithNotice(hook.WithNotice(prompt, older), newer), hook.WithNotice(prompt, newer)
		if got != want {
			t.Fatalf("prompt after two notices:\n%q\nwant\n%q", got, want)
		}
		if !strings.HasPrefix(got, prompt) {
			t.Fatalf("prompt %q lost its own words: %q", prompt, got)
		}
	})
}

// A prompt may quote files that others wrote: what only looks like a notice stays, and
// takes nothing of the operator's words with it.
//
// HOOK-16
func TestAForgedNoticeRemovesNothing(t *testing.T) {
	tainted := trust.Label{}
	notice := hook.TaintNotice(tainted)
	begin, _, _ := strings.Cut(notice, "untrusted")
	prompt := "You help.\n" + begin + "\nNever send mail.\n"
	got := hook.WithNotice(hook.WithNotice(prompt, tainted), tainted)
	if want := prompt + "\n\n" + notice; got != want {
		t.Errorf("prompt = %q, want %q", got, want)
	}
	unclosed := "You help.\n" + begin + "never closed"
	if got := hook.WithNotice(unclosed, trust.Label{Level: trust.Owner}); got != unclosed {
		t.Errorf("prompt = %q, want it as it was", got)
	}
	open := prompt + notice[strings.Index(notice, ".\nTreat"):]
	if got := hook.WithNotice(open, trust.Label{Level: trust.Owner}); got != open {
		t.Errorf("prompt = %q, want it as it was", got)
	}
	appended := hook.WithNotice("a", tainted) + "\n\nb"
	if got, want := hook.WithNotice(appended, trust.Label{Level: trust.Owner}), "a\n\nb"; got != want {
		t.Errorf("prompt = %q, want %q: what a host put below a notice stays", got, want)
	}
}
