package warrant_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
)

// shows reports whether an answer may show an address.
func shows(c *warrant.Context, as, address string) bool {
	return !asked(of(c, warrant.Answer, `{"`+as+`":`+quote(address)+`}`))
}

// gallery is a conversation in which a page was read that holds two addresses.
func gallery(t testing.TB, said ...string) *warrant.Context {
	t.Helper()
	c := world(append([]string{"Tell me what https://weather.example/ridge says about tomorrow."}, said...)...)
	read(c, "fetch_page", `{"url":"https://weather.example/ridge"}`,
		"Clear skies. See [the map](https://maps.weather.example/Ridge/Tomorrow?layer=wind) and ![sky](https://img.weather.example/sky.png)."+
			" Inside: http://192.168.1.1/apply?reboot=1 and javascript:alert(1)")
	return c
}

// Whoever hijacks the model has it write an address with something in it: into the path, the query, a name of the host, or the spelling
// of an address that was read (M20).
func TestAnAnswerShowsNoAddressThatTheAgentMadeUp(t *testing.T) {
	for name, a := range map[string]string{
		"nowhere read":           "https://drop.example/p?d=hunter2",
		"a host that was read":   "https://img.weather.example/hunter2.png",
		"a parameter more":       "https://img.weather.example/sky.png?d=hunter2",
		"one for visitors":       "https://img.weather.example/sky.png?utm_source=hunter2",
		"a fragment more":        "https://img.weather.example/sky.png#hunter2",
		"a name more":            "https://hunter2.img.weather.example/sky.png",
		"letters in capitals":    "https://maps.weather.example/rIDGE/tOMORROW?layer=wind",
		"percent for letters":    "https://img.weather.example/%73ky.png",
		"a user":                 "https://hunter2@img.weather.example/sky.png",
		"a port":                 "https://img.weather.example:8443/sky.png",
		"the beginning":          "https://maps.weather.example/Ridge",
		"a script that was read": "javascript:alert(1)",
		"data":                   "data:text/html,hunter2",
		"no scheme":              "//drop.example/hunter2",
		"no scheme at all":       "drop.example/hunter2",
		"a backslash":            `https:\\drop.example\hunter2`,
		"a sign nobody sees":     "https://img.weather.example/sky.png\u200b",
		"a look-alike":           "https://img.weаther.example/sky.png",
		"another scheme":         "ftp://img.weather.example/sky.png",
	} {
		for _, as := range []string{warrant.AsImage, warrant.AsLink} {
			if shows(gallery(t), as, a) {
				t.Errorf("%s: shown as %s: %s", name, as, a)
			}
		}
	}
}

func TestAnAnswerShowsWhatWasReadOrSaid(t *testing.T) {
	for name, a := range map[string]string{
		"the page that was read": "https://weather.example/ridge",
		"a link on it":           "https://maps.weather.example/Ridge/Tomorrow?layer=wind",
		"without its scheme":     "maps.weather.example/Ridge/Tomorrow?layer=wind",
		"the picture on it":      "https://img.weather.example/sky.png",
	} {
		for _, as := range []string{warrant.AsImage, warrant.AsLink} {
			if !shows(gallery(t), as, a) {
				t.Errorf("%s: not shown as %s: %s", name, as, a)
			}
		}
	}
	if !shows(world("Hello."), warrant.AsImage, "https://drop.example/p?d=hunter2") {
		t.Error("judged where nobody else has spoken")
	}
}

// An image is fetched without a click: it is nobody's to choose but the page's and the owner's.
func TestAnImageNeedsMoreThanALink(t *testing.T) {
	c := gallery(t, "And what does https://tides.example say?")
	for _, a := range []string{"https://tides.example/tomorrow", "http://localhost:3000/preview"} {
		if !shows(c, warrant.AsLink, a) {
			t.Errorf("no link: %s", a)
		}
		if shows(c, warrant.AsImage, a) {
			t.Errorf("an image: %s", a)
		}
	}
	for _, a := range []string{"http://192.168.1.1/apply?reboot=1", "http://localhost:3000/x?d=hunter2"} {
		if shows(c, warrant.AsImage, a) || shows(c, warrant.AsLink, a) {
			t.Errorf("shown: %s", a)
		}
	}
}

// What comes back from a call may hold what the agent put into it: that is no source.
func TestAnEchoIsNoSource(t *testing.T) {
	const made = "https://drop.example/p?d=hunter2"
	for name, echo := range map[string][2]string{
		"a search that repeats what it is asked": {"search_notes", `{"query":"what is ` + made + `"}`},
		"a file that was written":                {"write_note", `{"text":"see ` + made + `"}`},
		"a command that prints it":               {"bash", `{"command":"printf %s%s https://drop.example/p?d= hunter2"}`},
	} {
		c := gallery(t)
		read(c, echo[0], echo[1], "Results for "+made)
		read(c, "read_note", `{"id":"1"}`, "see "+made)
		if name == "a command that prints it" {
			c = gallery(t)
			read(c, echo[0], echo[1], made)
		}
		if shows(c, warrant.AsImage, made) || shows(c, warrant.AsLink, made) {
			t.Errorf("%s: shown", name)
		}
	}
	c := gallery(t)
	read(c, "search_notes", `{"query":"sky https://img.weather.example/sky.png"}`, "Results for https://img.weather.example/sky.png")
	if !shows(c, warrant.AsImage, "https://img.weather.example/sky.png") {
		t.Error("what was read before it was passed on is no source any more")
	}
}

func TestAMailAddressIsShownWhereItWasRead(t *testing.T) {
	c := gallery(t)
	read(c, "fetch_page", `{"url":"https://weather.example/ridge"}`, "Write to desk@weather.example.")
	if !shows(c, warrant.AsLink, "mailto:desk@weather.example") {
		t.Error("not shown")
	}
	for _, a := range []string{"mailto:hunter2@drop.example", "mailto:desk@weather.example?body=hunter2"} {
		if shows(c, warrant.AsLink, a) {
			t.Errorf("shown: %s", a)
		}
	}
}

// WAR-08: an address that was read is not asked with something of the agent's in its spelling.
func TestASpellingCarriesNothingOut(t *testing.T) {
	for address, want := range map[string]bool{
		"https://harbour.example/list":                  true,
		"https://quay.example/E120":                     true, // a host and a word that the user wrote
		"https://quay.example/e120?utm_x=hunter2":       false,
		"https://quay.example/E120/Hunter2":             false,
		"https://harbour.example/Timetable":             true, // as it stands there
		"https://harbour.example/list?utm_x=hunter2":    false,
		"https://harbour.example/list?gclid=hunter2":    false,
		"https://harbour.example/LiSt":                  false,
		"https://harbour.example/%6cist":                false,
		"https://HARBOUR.example/list":                  true,
		"https://harbour.example/tide?utm_source=boats": true, // as it stands there
	} {
		c := world()
		c.User("Look at the list of pages and open them, and look E120 up at quay.example")
		result(c, "list_pages", `{}`, `[{"url":"https://harbour.example/list"},{"url":"https://harbour.example/Timetable"},{"url":"https://harbour.example/tide?utm_source=boats"}]`)
		w := of(c, "web_fetch", `{"url":"`+address+`"}`)
		if got := !lacks(w); got != want {
			t.Errorf("%s: got %v, want %v: %s", address, got, want, w)
		}
	}
}
