package audience_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/audience"
)

// AUD-01: who may read something is told by the structure that a server prints, and never by its words.
func TestWhoMayRead(t *testing.T) {
	const ann, ben = "ann@harbour.example", "ben@quay.example"
	for content, want := range map[string]audience.Set{
		`{"id":"m1","from":"Ann <ann@harbour.example>","to":["me@harbour.example"],"subject":"Berth","body":"Come on Monday"}`:                audience.Of(ann, "me@harbour.example"),
		`[{"from":"ann@harbour.example","body":"a"},{"from":"ann@harbour.example","to":"ben@quay.example","body":"b"}]`:                       audience.Of(ann),
		`[{"from":"ann@harbour.example","body":"a"},{"from":"ben@quay.example","body":"b"}]`:                                                  {},
		`{"title":"Tides","visibility":"public","content":"Low at six"}`:                                                                      audience.Everybody(),
		`{"title":"Tides","visibility":"private","shared_with":["ben@quay.example"],"content":"Low"}`:                                         {},
		`{"title":"Tides","private":true,"from":"ben@quay.example","content":"Low"}`:                                                          {},
		`{"title":"Tides","visibility":"public","content":"Low","internal_notes":"She is a liar"}`:                                            {},
		`{"title":"Tides","visibility":"members","shared_with":["ben@quay.example"],"content":"Low"}`:                                         {},
		`{"title":"Tides","access":true,"content":"Low"}`:                                                                                     {},
		`{"title":"Tides","public":true,"content":"Low"}`:                                                                                     audience.Everybody(),
		`{"channel":"#pier","text":"Low at six"}`:                                                                                             audience.Of("#pier"),
		`{"emails":[{"from":"ann@harbour.example","body":"a"}],"count":1}`:                                                                    audience.Of(ann),
		`{"emails":[{"from":"ann@harbour.example","body":"a"}],"note":"pay her less"}`:                                                        {},
		`{"from":"ann@harbour.example","subject":"Complaint","body":"It leaks","internal_notes":"She is a liar"}`:                             {},
		`{"from":"ann@harbour.example","body":"a","history":[{"by":"ben","text":"ask less"}]}`:                                                {},
		`{"from":"ann@harbour.example","body":"a","wages":41350}`:                                                                             {},
		`{"messages":[{"from":"ann@harbour.example","body":"a"}],"total":1250}`:                                                               audience.Of(ann),
		`{"name":"Ilse","wages":41350}`:                                                                                                       {},
		`{"from":"2026-01-01","to":"2026-02-01","text":"ben@quay.example may read this"}`:                                                     {},
		"This page is public. Visibility: public. Everybody may read it, ben@quay.example above all.":                                         {},
		"From: Ann <ann@harbour.example>\nTo: ben@quay.example\nSubject: Berth\n\nCome on Monday.\nFrom: eve@quay.example\nTo: eve@x.example": audience.Of(ann, ben),
		"From: ann@harbour.example\nInternal: ask less\n\nCome on Monday.":                                                                    {},
		"": {},
	} {
		if got := audience.Read([]byte(content), ""); got.String() != want.String() {
			t.Errorf("%s\nmay be read by %s, want %s", content, got, want)
		}
	}
}

func sets(t *rapid.T, name string) audience.Set {
	s := audience.Of(rapid.SliceOfN(rapid.SampledFrom([]string{"a@x", "b@x", "c@x", "#d"}), 0, 4).Draw(t, name)...)
	s.Public = rapid.Bool().Draw(t, name+" public")
	return s
}

// Two things at once are read by those who may read each.
func TestPropertyBothIsTheMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, r := sets(t, "a"), sets(t, "b"), sets(t, "readers")
		if got, want := a.Both(b).Covers(r), a.Covers(r) && b.Covers(r); got != want {
			t.Fatalf("%v and %v cover %v: %v, want %v", a, b, r, got, want)
		}
		if (audience.Set{}).Covers(r) && (r.Public || len(r.People) > 0) {
			t.Fatalf("what is the owner's is for %v", r)
		}
	})
}

// One more field, whatever it is called and holds, lets nobody read a record that could not.
func TestPropertyOneMoreFieldLetsNobodyIn(t *testing.T) {
	key := rapid.SampledFrom([]string{"notes", "body", "history", "wages", "note", "text", "owner", "x"})
	rapid.Check(t, func(t *rapid.T) {
		k := key.Draw(t, "key")
		before := audience.Read([]byte(`{"from":"ann@harbour.example","subject":"a"}`), "")
		after := audience.Read([]byte(`{"from":"ann@harbour.example","subject":"a","`+k+`":"ben@quay.example may read this"}`), "")
		if !before.Covers(after) || after.Covers(audience.Of("ben@quay.example")) {
			t.Fatalf("with %s it is for %v, before %v", k, after, before)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"from":"ann@harbour.example","body":"a"}`))
	f.Add([]byte("From: a@b.example\n\nx"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s := audience.Read(b, ""); s.Public && len(s.People) > 0 && s.String() != "everybody" {
			t.Fatal(s)
		}
	})
}
