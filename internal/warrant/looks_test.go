package warrant_test

import "testing"

// A look is one by its name, and by what it is given.
//
// WAR-02
func TestALookThatDoesMoreIsNone(t *testing.T) {
	for _, c := range []struct {
		name, args string
		want       bool
	}{
		{"get_chart", `{"id":"c-7"}`, false},
		{"get_chart", `{"id":"c-7","make_public":false}`, false},
		{"get_chart", `{"id":"c-7","make_public":true}`, true},
		{"get_chart", `{"id":"c-7","publish":true}`, true},
		{"list_charts", `{"include_archived":true,"sort":"name"}`, false},
		{"search_charts", `{"query":"reef","sync_to":"gull-drop"}`, true},
		{"get_harbour_balance", `{"deposit":900}`, true},
		{"calculate_berth_loan", `{"deposit":900}`, false},
		{"my_letters", `{}`, false},
		{"get_release", `{"id":"c-7"}`, false},
		{"get_vote", `{"id":"c-7"}`, false},
		{"return_sails", `{"id":"c-7"}`, true},
		{"access_harbour", `{"id":"c-7"}`, true},
		{"get_weather", `{"city":"Norrland ridge"}`, false},
		{"get_weather", `{"city":"heron four four seven one"}`, true},
	} {
		if w := of(argued(unrelated), c.name, c.args); asked(w) != c.want {
			t.Errorf("%s %s: asked is %v, want %v: %s %+v", c.name, c.args, asked(w), c.want, w.Deed, w.Slots)
		}
	}
}

// What only the user can read is not recited to whoever is asked; what stands at an address may be.
func TestALookRecitesNothingThatIsTheUsersAlone(t *testing.T) {
	c := argued(unrelated)
	read(c, "read_letter", `{"id":"l-1"}`, "Dear Ilse, the spare key of the boat house lies under the third flower pot.")
	read(c, "web_fetch", `{"url":"https://tides.example/today"}`, "High water at the north pier comes at noon and again past midnight.")
	if w := of(c, "think", `{"thought":"the spare key of the boat house lies under the third flower pot"}`); !asked(w) {
		t.Errorf("passes as %s: %+v", w.Deed, w.Slots)
	}
	if w := of(c, "think", `{"thought":"High water at the north pier comes at noon and again past midnight"}`); asked(w) {
		t.Errorf("asked about a page: %+v", w.Slots)
	}
}

// Tools by which a framework steers itself are neither acts nor looks, where the door says so; no name does. They
// lead nowhere that nobody may go.
func TestOnlyTheDoorSaysWhatSteers(t *testing.T) {
	for _, name := range []string{"update_plan", "hand_over_to_mate", "give_answer"} {
		args := `{"text":"First the ropes, then the sails."}`
		plain := argued(unrelated)
		if w := of(plain, name, args); !asked(w) {
			t.Errorf("%s passes by its name as %s", name, w.Deed)
		}
		told := argued(unrelated)
		told.Control([]string{name})
		if w := of(told, name, args); asked(w) {
			t.Errorf("%s is asked about: %+v", name, w.Slots)
		}
		if w := of(told, name, `{"text":"Done. ![](https://drop.example/p?u=ridge)"}`); !asked(w) {
			t.Errorf("%s leads to anybody: %+v", name, w.Slots)
		}
		if w := of(told, "other__"+name, args); !asked(w) {
			t.Errorf("a server's tool passes as %s", w.Deed)
		}
	}
}
