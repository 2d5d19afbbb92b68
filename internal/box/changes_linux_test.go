package box_test

import (
	"testing"

	"github.com/tidemark/tidemark/internal/box"
)

func TestWhatAFileOfTheHomeIs(t *testing.T) {
	for below, want := range map[string]string{
		".bashrc": "a shell runs it when it starts", ".BashRC": "a shell runs it when it starts", ".config/fish/conf.d/x.fish": "a shell runs it when it starts",
		"bin/git": "a program that is run by its name", ".ssh/authorized_keys": "it says who may sign in, or with which key",
		".claude/settings.json": "settings or memory of an agent, which does what they say", ".gitconfig": "settings of git, which can name programs",
		".config/systemd/user/x.service": "started when you sign in",
		"src/x/.git/hooks/post-merge":    "it would run elsewhere or later", "src/x/.github/workflows/a.yml": "it would run elsewhere or later",
		".something-new":  "it would run elsewhere or later", // a name with a dot that nobody knows
		"Documents/a.txt": "", "binary.txt": "",
	} {
		if got := box.Describe(below, 0o644, []byte("x\n")); got != want {
			t.Errorf("%s: got %q, want %q", below, got, want)
		}
	}
	if box.Describe("a", 0o755, nil) != "a program" || box.Describe("a", 0o644, []byte("#!/bin/sh\n")) != "a program" {
		t.Error("a program is not told from a text")
	}
}
