package outgoing_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// BOX-02: what a push does besides adding commits is told, however it is written.
func TestWhatAPushDoesBesides(t *testing.T) {
	for line, want := range map[string]string{
		"": "", "origin": "", "origin main": "", "-u origin HEAD": "", "-qu origin fix/12": "", "origin main:main": "", "origin refs/heads/a:a": "", "--no-verify origin a": "",
		"origin a b": "", "https://git.acme.example/web.git main": "", "-f": "forces", "--force origin main": "forces", "-uf origin main": "forces", "-fu": "forces",
		"--force-with-lease": "forces", "--force-with-lease=main:abc origin main": "forces", "--force-if-includes": "forces", "origin +main": "forces", "origin +HEAD": "forces",
		"origin +a:b": "forces b", "origin :old": "removes old", "-d origin old": "removes old", "origin --delete old": "removes old", "-qd origin old": "removes old",
		"origin :refs/heads/old": "removes old", "--prune origin": "removes many", "--mirror": "forces removes many", "--all": "many", "--branches origin": "many", "origin :": "many",
		"origin refs/heads/*:refs/heads/*": "many", "--tags": "tags", "--follow-tags origin a": "tags", "origin tag v1": "tags", "origin refs/tags/v1": "tags",
		"origin v1.0": "v1.0?", "origin release-2.4.1": "release-2.4.1?", "origin web/v1.2.3-rc1": "web/v1.2.3-rc1?", "origin HEAD:release": "release", "origin main:production": "production",
		"--forc origin main": "unread", "--receive-pack=x origin": "unread", "-o ci.skip origin": "unread", "--push-option=x": "unread", "--exec=x": "unread", "--force=yes": "unread",
		"origin main:refs/for/main": "unread refs/for/main", "--repo=x": "unread", "-z": "unread", "--signed": "unread", "--recurse-submodules=on-demand": "unread",
	} {
		p := outgoing.Pushes(strings.Fields(line), nil)
		var got []string
		for i, is := range []bool{p.Forces, p.Removes, p.Tags, p.Many, p.Unread} {
			if is {
				got = append(got, []string{"forces", "removes", "tags", "many", "unread"}[i])
			}
		}
		got = append(got, p.Names...)
		for _, m := range p.Marks {
			got = append(got, m+"?")
		}
		if s := strings.Join(got, " "); s != want || p.More() != (want != "") {
			t.Errorf("git push %s: %q, want %q", line, s, want)
		}
	}
	if p := outgoing.Pushes([]string{"origin", "x"}, func(i int) bool { return i == 0 }); !p.Unread {
		t.Error("a word that is decided when it runs is taken for what stands there")
	}
}

// No option that is not known to do nothing is lost among others, wherever it stands.
func TestNoOptionOfAPushIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fine := []string{"-u", "-q", "-v", "--atomic", "origin", "main", "--no-verify"}
		words := rapid.SliceOfN(rapid.SampledFrom(fine), 0, 5).Draw(t, "words")
		o := rapid.StringMatching(`--?[a-z][a-z-]{0,12}(=[a-z]{0,3})?|\+[a-z]{1,4}|:[a-z]{1,4}`).Draw(t, "option")
		if p := outgoing.Pushes([]string{"origin", o}, nil); !p.More() {
			return // it is one of those
		}
		at := rapid.IntRange(0, len(words)).Draw(t, "at")
		all := append(append(append([]string{"origin"}, words[:at]...), o), words[at:]...)
		if p := outgoing.Pushes(all, nil); !p.More() {
			t.Fatalf("%q does no more than adding commits", all)
		}
	})
}
