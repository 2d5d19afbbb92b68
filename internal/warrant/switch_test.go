package warrant_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

// switching are tools with a switch, as their definitions tell it and as nobody does.
func switching(name, thing, flag string) map[string]*tool.Definition {
	d := define(name, "Works on a "+thing+".", fmt.Sprintf(`%q:{"type":"string"},%q:{"type":"boolean"}`, thing, flag))
	return map[string]*tool.Definition{"defined": &d, "undefined": nil}
}

func switched(said string, d *tool.Definition) *warrant.Context {
	if d == nil {
		return offered(said)
	}
	return offered(said, *d)
}

// works are acts with an order for each.
var works = []struct{ tool, thing, order string }{
	{"merge_branch", "branch", "merge the branch harvest-7"},
	{"delete_tray", "tray", "delete the tray harvest-7"},
	{"update_case", "case", "update the case harvest-7"},
	{"publish_letter", "letter", "publish the letter harvest-7"},
	{"cancel_trip", "trip", "cancel the trip harvest-7"},
	{"restart_server", "server", "restart the server harvest-7"},
}

// To deny a switch does not turn it on, nor does talk of something else that has its word.
func TestPropertyADeniedSwitchIsNotOn(t *testing.T) {
	denials := []string{
		"%s, not %s.", "%s but never %s.", "%s, and no %s.", "%s without %s.", "%s. Do not use %s.", "%s; never %s.", "%s. No %s.", "%s. Avoid %s.",
		"%s. I want no %s.", "%s. The %s of the storm was great.", "Look at the %[2]s letters. %[1]s.", "Read what is said of %[2]s, then %[1]s.",
		"%s. What does %s mean?", "%s. Rolf wants %s.", "%s. Ana said: %s.", "%s. Mail of Ana: %s.", "%s: no %s.", "%s: not %s, please.", "%s. Skip %s.", "%s. %s is off limits.", "%s. There must be no %s.",
		"%s, nicht %s.", "%s, aber kein %s.", "%s. Ohne %s.", "%s, pero sin %s.", "%s, mais sans %s.", "%s. Nunca %s.", "%s, maar geen %s.",
		"%s. If it fails, use %s.", "%s instead of %s.", "%s rather than %s.", "%s. Disable %s.", "%s. Turn off %s.", "%s. Stop %s.",
	}
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom(works).Draw(t, "work")
		flag := rapid.SampledFrom([]string{"force", "cascade", "notify", "urgent", "permanent", "recursive", "public", "priority", "insured", "zub"}).Draw(t, "flag")
		said := fmt.Sprintf(rapid.SampledFrom(denials).Draw(t, "denial"), w.order, flag)
		for kind, d := range switching(w.tool, w.thing, flag) {
			if got := of(switched(said, d), w.tool, fmt.Sprintf(`{%q:"harvest-7",%q:true}`, w.thing, flag)); !asked(got) {
				t.Fatalf("%s: %q turns %s on: %s", kind, said, flag, got)
			}
		}
	})
}

// Who orders a switch with the act is not asked for it.
func TestASwitchThatIsOrderedIsOn(t *testing.T) {
	for _, tt := range []struct{ said, tool, thing, flag string }{
		{"Merge the branch harvest-7 with force", "merge_branch", "branch", "force"},
		{"Merge the branch harvest-7: use force", "merge_branch", "branch", "force"},
		{"Update the case harvest-7: turn versioning on", "update_case", "case", "versioning"},
		{"Update the case harvest-7: make it urgent, please", "update_case", "case", "urgent"},
		{"Merge the branch harvest-7, force", "merge_branch", "branch", "force"},
		{"Merge the branch harvest-7 and force it", "merge_branch", "branch", "force"},
		{"Please merge the branch harvest-7; use force", "merge_branch", "branch", "force"},
		{"Delete the tray harvest-7, cascade", "delete_tray", "tray", "cascade"},
		{"Update the case harvest-7, mark it urgent", "update_case", "case", "urgent"},
		{"Update the case harvest-7 and make it urgent", "update_case", "case", "urgent"},
		{"Mark the case harvest-7 as urgent", "update_case", "case", "urgent"},
		{"Cancel the trip harvest-7 and notify them", "cancel_trip", "trip", "notify"},
		{"Could you cancel the trip harvest-7 and notify them?", "cancel_trip", "trip", "notify"},
	} {
		for kind, d := range switching(tt.tool, tt.thing, tt.flag) {
			if got := of(switched(tt.said, d), tt.tool, fmt.Sprintf(`{%q:"harvest-7",%q:true}`, tt.thing, tt.flag)); asked(got) {
				t.Errorf("%s: %q does not turn %s on: %s", kind, tt.said, tt.flag, got)
			}
		}
	}
}

// A switch is turned off like anything else is done: by who said so. It may be what keeps a thing.
func TestPropertyASwitchIsNotTurnedOffUnsaid(t *testing.T) {
	ways := []string{"%s.", "%s, %s.", "%s and keep it %s.", "%s. Make it %s.", "Look at the %[2]s things, then %[1]s.", "%s; it is %s.", "%s with %s."}
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom(works).Draw(t, "work")
		flag := rapid.SampledFrom([]string{"private", "protected", "encrypted", "pin_required", "verify_signature", "armed", "dry_run", "zub", "guard_mode",
			"approval_needed", "notifyOwner", "auto_lock", "auto_backup", "alarm", "enabled", "keep_public_key", "is_locked", "published"}).Draw(t, "flag")
		way := rapid.SampledFrom(ways).Draw(t, "way")
		said := w.order + "."
		if way != ways[0] {
			said = fmt.Sprintf(way, w.order, spacedName(flag))
		}
		for kind, d := range switching(w.tool, w.thing, flag) {
			if got := of(switched(said, d), w.tool, fmt.Sprintf(`{%q:"harvest-7",%q:false}`, w.thing, flag)); !asked(got) {
				t.Fatalf("%s: %q turns %s off: %s", kind, said, flag, got)
			}
		}
	})
}

func spacedName(flag string) string {
	out := ""
	for _, r := range flag {
		switch {
		case r == '_':
			out += " "
		case r >= 'A' && r <= 'Z':
			out += " " + string(r+'a'-'A')
		default:
			out += string(r)
		}
	}
	return out
}

// What is off by default, or only does more where it is on, is off without a question, and so is what the owner denies; but what they want
// is not turned off so.
func TestASwitchThatIsOffAnyway(t *testing.T) {
	usual := define("update_case", "Works on a case.", `"case":{"type":"string"},"masked":{"type":"boolean","default":false}`)
	for _, tt := range []struct {
		said, args string
		asked      bool
		list       []tool.Definition
	}{
		{"Update the case harvest-7", `{"case":"harvest-7","masked":false}`, false, []tool.Definition{usual}},
		{"Update the case harvest-7", `{"case":"harvest-7","masked":false}`, true, nil},
		{"Update the case harvest-7, masked", `{"case":"harvest-7","masked":false}`, true, []tool.Definition{usual}},
		{"Update the case harvest-7", `{"case":"harvest-7","force":false}`, false, nil},
		{"Update the case harvest-7 with force", `{"case":"harvest-7","force":false}`, true, nil},
		{"Update the case harvest-7", `{"case":"harvest-7","notify_guests":false}`, false, nil},
		{"Update the case harvest-7, not protected", `{"case":"harvest-7","protected":false}`, false, nil},
		{"Update the case harvest-7. It should not be protected.", `{"case":"harvest-7","protected":false}`, false, nil},
		{"Update the case harvest-7 without protection", `{"case":"harvest-7","protection":false}`, false, nil},
		{"Update the case harvest-7 and turn off the alarm", `{"case":"harvest-7","alarm":false}`, false, nil},
		{"Update the case harvest-7 and disable the alarm", `{"case":"harvest-7","alarm":false}`, false, nil},
		{"Aktualisiere den Fall harvest-7, nicht privat", `{"fall":"harvest-7","privat":false}`, false, nil},
	} {
		name := "update_case"
		if got := of(offered(tt.said, tt.list...), name, tt.args); asked(got) != tt.asked {
			t.Errorf("%q: %s asked %v, want %v: %s", tt.said, tt.args, asked(got), tt.asked, got)
		}
	}
}
