package warrant_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// A word for how something else is, or whose it is, decides nothing of what the owner has changed.
func TestPropertyAWordForOthersDecidesNothing(t *testing.T) {
	talks := []string{
		"Read the %s boards of the north office, then ", "List the %s letters. Then ", "See the %s folders, then ", "Look at the %s letters and ",
		"Read letter m-8 from the %s office, then ", "Read letter m-8 about the %s road. ", "Are the %s boards there? ",
	}
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.SampledFrom([]string{"visibility", "role", "scope", "access", "status", "state", "mode", "permission"}).Draw(t, "field")
		value := rapid.SampledFrom([]string{"public", "admin", "Owner", "closed", "archived", "maintenance", "emergency", "paid", "zub"}).Draw(t, "value")
		thing := rapid.SampledFrom([]string{"page", "pump", "member", "claim", "user"}).Draw(t, "thing")
		said := fmt.Sprintf(rapid.SampledFrom(talks).Draw(t, "talk"), value) + "update the " + thing + " RE-7 with the title Heath."
		for kind, d := range switching("update_"+thing, thing, "pinned") {
			if d != nil {
				*d = define("update_"+thing, "Changes a "+thing+".", fmt.Sprintf(`%q:{"type":"string"},"title":{"type":"string"},%q:{"type":"string"}`, thing, field))
			}
			args := fmt.Sprintf(`{%q:"RE-7","title":"Heath",%q:%q}`, thing, field, value)
			if w := of(switched(said, d), "update_"+thing, args); !asked(w) {
				t.Fatalf("%s: %q lets %s through: %s", kind, said, args, w)
			}
		}
	})
}

// Who says how the thing is to stand is not asked.
func TestAWordForTheThingDecides(t *testing.T) {
	for _, tt := range []struct{ said, tool, args string }{
		{"Update the page RE-7 with the title Heath and make it public", "update_page", `{"page":"RE-7","title":"Heath","visibility":"public"}`},
		{"Set the visibility of page RE-7 to public", "update_page", `{"page":"RE-7","visibility":"public"}`},
		{"Update user RE-7: role admin", "update_user", `{"user":"RE-7","role":"admin"}`},
		{"Update user RE-7 with the role Admin", "update_user", `{"user":"RE-7","role":"admin"}`},
		{"Set the mode of pump RE-7 to maintenance", "update_pump", `{"pump":"RE-7","mode":"maintenance"}`},
		{"Update claim RE-7, status paid", "update_claim", `{"claim":"RE-7","status":"paid"}`},
		{"Update claim RE-7. It is paid.", "update_claim", `{"claim":"RE-7","status":"paid"}`},
	} {
		if w := of(offered(tt.said), tt.tool, tt.args); asked(w) {
			t.Errorf("%q: asked about %s: %s", tt.said, tt.args, w)
		}
	}
}
