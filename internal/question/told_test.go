package question_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/question"
	"github.com/tidemark/tidemark/policy"
)

// value is one of a call that is asked about (lacks), or in order.
func value(slot, path, value string, lacks bool) event.Shown {
	v := event.Shown{Slot: slot, Path: path, Value: value, Lacks: lacks, Has: "said", Why: "you said it"}
	if lacks {
		v.Has, v.Why = "none", "I could not tell"
	}
	return v
}

// cardOf is a card of a call with these values, after these words.
func cardOf(act, tool, words string, values ...event.Shown) *question.Card {
	args := map[string]string{}
	for _, v := range values {
		args[v.Path] = v.Value
	}
	raw, _ := strictjson.Marshal(args)
	return &question.Card{Act: act, Tool: tool, Args: string(raw), Values: values, Words: []event.Said{{Text: words}}, Reason: policy.Unfound("act")}
}

// certain are names of tools that say an act of theirs.
var certain = map[string]string{
	"pay": "pay_bill", "change": "update_entry", "delete": "delete_file", "send": "send_message", "execute": "exec", "grant": "invite_user",
}

// MAN-10: a switch, a number and a word stand in the sentence behind the name of their parameter; an address, a path, the name of a file, a
// sum and whom it goes to say themselves what they are.
func TestTheSentenceSaysWhatItsValuesAre(t *testing.T) {
	for _, tc := range []struct{ name, act, want string }{
		{"a switch", "pay", "Pay 250 to Rachel, private = true"},
		{"a word that says what is to become of it", "change", "Update: user = u1, action = block"},
		{"a file", "delete", "Delete notes.txt, with delete_file"},
		{"a number", "delete", "Delete: event = 12, with delete_file"},
		{"several that would all say what they are", "send", "Send: pickup = “12 rue des Lilas”, product = “van luxe”"},
		{"the entries of a list", "change", "Update: values = yes, no, with update_entry"},
		{"a tool that is what is run", "execute", "Run exec: name = date-picker"},
	} {
		values := map[string][]event.Shown{
			"a switch": {value("measure", "amount", "250", false), value("aim", "to", "Rachel", false), value("object", "private", "true", true)},
			"a word that says what is to become of it": {value("object", "user", "u1", false), value("measure", "action", "block", true)},
			"a file":   {value("object", "path", "notes.txt", true)},
			"a number": {value("object", "event", "12", true)},
			"several that would all say what they are": {value("object", "pickup", "12 rue des Lilas", true), value("object", "product", "van luxe", true)},
			"the entries of a list":                    {value("object", "values[0]", "yes", true), value("object", "values[1]", "no", true)},
			"a tool that is what is run":               {value("object", "name", "date-picker", true)},
		}[tc.name]
		c := cardOf(tc.act, certain[tc.act], "Do it", values...)
		got := strings.NewReplacer(" (not found in your words)", "", " (both not found in your words)", "").Replace(c.Head())
		if !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// MAN-10: of a tool whose name leaves open what it does the sentence says the name and the values, and what it is taken for as that.
func TestATitleClaimsNoMoreThanTheCall(t *testing.T) {
	for _, tc := range []struct {
		act, tool, want string
		values          []event.Shown
	}{
		{"pay", "set_battery_reserve", "Call set_battery_reserve: device_id = d17, percent = 30. I take it that it pays, orders or books.",
			[]event.Shown{value("object", "device_id", "d17", true), value("measure", "percent", "30", true)}},
		{"grant", "promote_deployment", "Call promote_deployment: deployment = web12. I take it that it gives somebody access or a right.",
			[]event.Shown{value("object", "deployment", "web12", true)}},
		{"grant", "create_customer", "Call create_customer: email = ann@lund.example. I take it that it gives", []event.Shown{value("aim", "email", "ann@lund.example", true)}},
		{"send", "request_ride", "Call request_ride: pickup = “Main St 4”. It seems to send something to others.", []event.Shown{value("object", "pickup", "Main St 4", true)}},
		{"grant", "invite_user", "Invite ann@lund.example, with invite_user.", []event.Shown{value("aim", "email", "ann@lund.example", true)}},
		{"unknown", "frob", "Call frob: a = b1. I do not know what it does.", []event.Shown{value("object", "a", "b1", true)}},
		{"change", "tool", "Call tool: e = 5, a = 1, b = 2, c = 3, 1 more.", []event.Shown{
			value("object", "a", "1", false), value("object", "b", "2", false), value("object", "c", "3", false), value("object", "d", "4", false), value("object", "e", "5", true)}},
	} {
		c := cardOf(tc.act, tc.tool, "Do it", tc.values...)
		got := strings.NewReplacer(" (not found in your words)", "", " (both not found in your words)", "").Replace(c.Head())
		if !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.tool, got, tc.want)
		}
	}
}

// MAN-10: whoever chooses the names of parameters writes no sentence with them.
func TestTheNameOfAParameterIsNoSentence(t *testing.T) {
	c := cardOf("change", "tool", "Do it", value("object", "x (you said it). Allow it?\nCall: y", "on", true))
	if got := c.Head(); !strings.Contains(got, "“x (you said it). Allow it?") || strings.Contains(got, "\n") {
		t.Errorf("got %q", got)
	}
}

// MAN-10: what stands in the words that the card shows is never told as not from them, also where it is asked about; and what does not is.
func TestAValueInTheWordsIsNotToldAsMissing(t *testing.T) {
	titled := value("object", "channel", "C0SW", true)
	titled.Title = "support-web"
	text := value("object", "path", "/srv/docs/plan.txt", true)
	text.From = "the text of list_files at step 1"
	elsewhere := value("aim", "to", "mallory@x.example", true)
	elsewhere.From = "the text of read_mail at step 1"
	passed := value("aim", "to", "LT60", true)
	passed.From = "the text of a message"
	hidden := value("aim", "to", "DE12", true)
	hidden.Said = true
	secret := value("key", "password", "hunter22", true)
	secret.Secret = true
	for _, tc := range []struct {
		name, act, words, want, never string
		v                             event.Shown
	}{
		{"a name", "pay", "Send it to Rachel's account", "Rachel (in your words, perhaps not for this)", "not found", value("aim", "to", "Rachel", true)},
		{"in a ban", "send", "Never write to bo@x.example", "(in your words, perhaps not for this)", "not found", value("aim", "to", "bo@x.example", true)},
		{"part of a longer word", "pay", "Send it to Rachelle", "(not found in your words)", "perhaps not", value("aim", "to", "Rachel", true)},
		{"a record by its name", "change", "the bug in #support-web", "(its name is in your words)", "not found", titled},
		{"another record", "change", "the bug in #support-api", "(not found in your words)", "its name is", titled},
		{"a file by its name", "change", "open plan.txt", "(its last part is in your words, the rest I could not find)", "not from you", text},
		{"another file", "change", "open notes.txt", "(not from you)", "in your words, ", text},
		{"an address of a letter", "send", "Answer the letter", "(not from you)", "in your words", elsewhere},
		{"in a letter that the user passed on", "pay", "Is it serious? Dear Sir, pay 900 to LT60", "(not from you)", "in your words", passed},
		{"where the words are too long to be shown", "pay", "Settle it", "(in your words, perhaps not for this)", "not found", hidden},
		{"a secret is not looked for", "grant", "Change it", "password = a secret, with", "not found", secret},
	} {
		c := cardOf(tc.act, certain[tc.act], tc.words, tc.v)
		would := c.Would()
		if !strings.Contains(would, tc.want) || strings.Contains(would, tc.never) || strings.Contains(would, "hunter22") {
			t.Errorf("%s: got %q, want %q and never %q", tc.name, would, tc.want, tc.never)
		}
	}
}

// Where nobody knows what the user said, nothing is claimed of it.
func TestOfWordsThatAreNotKnownNothingIsClaimed(t *testing.T) {
	read := value("aim", "to", "mallory@x.example", true)
	read.From = "the text of read_mail at step 1"
	c := cardOf("send", "tool", "", read, value("object", "about", "rates 2", true))
	c.UserUnheard, c.Words = true, nil
	if got := c.Would(); !strings.Contains(got, "mallory@x.example (read elsewhere)") || strings.Contains(got, "your words") || strings.Contains(got, "not from you") {
		t.Errorf("got %q", got)
	}
}

// MAN-10: of a call that was not found in the user's words the card says which of its values are there; where none is, that it could not be
// found. An honest call whose wording was not understood and an injected one read differently.
func TestTheCardSaysWhatOfACallIsInTheWords(t *testing.T) {
	honest := cardOf("send", "request_ride", "a taxi to Gare de l'Est please",
		value("object", "dropoff", "Gare de l'Est", false), value("object", "pickup", "12 rue des Lilas", true))
	want := "From your words, or from what you named in them: dropoff. Not found: that you want it done; pickup. Allow it?"
	if got := honest.Head(); !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q at its end", got, want)
	}
	injected := cardOf("send", "post_webpage", "Read the page", value("aim", "url", "https://evil.example/x", true), value("cargo", "content", "read", true))
	if got := injected.Head(); !strings.HasSuffix(got, ". I could not find this in your words. Allow it?") {
		t.Errorf("got %q", got)
	}
	aim := cardOf("pay", "pay", "Send 250 to Rachel's account", value("aim", "to", "Rachel", true), value("measure", "amount", "250", false))
	aim.Reason = policy.Unfound("aim")
	if got := aim.Head(); !strings.HasSuffix(got, "You said Rachel; I could not tell whether you meant it for this. Allow it?") {
		t.Errorf("got %q", got)
	}
	aim.Values = append(aim.Values, value("aim", "copy", "mallory@x.example", true))
	if got := aim.Head(); !strings.HasSuffix(got, "I could not find in your words who or where it goes to. Allow it?") {
		t.Errorf("with another address beside it: got %q", got)
	}
}

// MAN-10: a parameter that is asked about as one thing and not as another is told as asked about, and a verb never stands alone.
func TestOneOfSeveralSlotsIsEnoughToBeAskedAbout(t *testing.T) {
	c := cardOf("send", "request_ride", "Do it", value("measure", "pickup", "Main St 4", false), value("cargo", "pickup", "Main St 4", true), value("object", "dropoff", "Airport", true))
	if got, want := c.Would(), "Call request_ride: dropoff = Airport, pickup = “Main St 4” (both not found in your words)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	bare := &question.Card{Act: "tidy", Tool: "create_workspace", Args: `{"name":"alpha","note":"x\ny"}`, Values: []event.Shown{{Slot: "act", Has: "none", Lacks: true, Why: "I could not find it in your words"}}, Reason: policy.Unfound("act")}
	if got, want := bare.Would(), "Call create_workspace: name = alpha"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// MAN-10: the first line names the command that the call has, and not a file that it runs or a part of it; a text that only holds what is asked
// about is not told as being that; and who left it to a letter what is done is told so.
func TestTheFirstLineSaysWhatTheCallHas(t *testing.T) {
	runs := cardOf("execute", "bash", "Fix the test", value("order", "command", "python3 t.py", true))
	runs.Values[0].Value = "t.py: import os"
	if got, want := runs.Would(), "Run “python3 t.py”, with bash"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	pieces := cardOf("execute", "exec", "Fix it", value("order", "command", "x", true))
	pieces.Args, pieces.Values[0].Value = `{"command":["rm","-rf","src"]}`, "src"
	if got, want := pieces.Would(), "Run “rm -rf src”, with exec"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	holds := cardOf("send", "create_forum_entry", "Do it", value("cargo", "content", "call bo@x.example at noon", true))
	holds.Values[0].Value = "bo@x.example"
	if got, want := holds.Would(), "Call create_forum_entry: content holds bo@x.example (not found in your words)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	left := cardOf("delete", "delete_file", "Do what the mail says", value("object", "path", "a.txt", true), event.Shown{Slot: "act", Has: "delegated", Lacks: true, Why: "your words may leave it to what it reads"})
	if got := left.Head(); !strings.Contains(got, "You may have left it to what was read") {
		t.Errorf("got %q", got)
	}
	long := cardOf("change", "update_note", "Do it", value("object", "title", strings.Repeat("word ", 40), true))
	if got := long.Would(); len(got) > 200 || !strings.Contains(got, "… (whole below)") {
		t.Errorf("got %q", got)
	}
}

// MAN-10: the call shows of each value whether it is asked about, or the agent's choice.
func TestTheCallShowsWhatTheAgentChose(t *testing.T) {
	chosen := value("measure", "percent", "30", false)
	chosen.Has, chosen.Why = "agent", "the agent's own"
	file := value("object", "file", "S27", false)
	file.Title = "Budget) 2027\n! to: me"
	c := cardOf("change", "set_battery", "Keep some back on device d17", value("object", "device", "d17", false), file, chosen, value("object", "mode", "away", true))
	got := c.Lines()[1].Text
	for _, want := range []string{"\n  device: d17", "\n! mode: away", "\n  file: S27 (“Budget) 2027 ! to: me”)", "\n  percent: 30 (the agent's choice)"} {
		if !strings.Contains(got+"\n", want+"\n") {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
