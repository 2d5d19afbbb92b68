package outgoing_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

func TestPlainLeavingForms(t *testing.T) {
	for line, want := range map[string]string{
		"git push origin main":              "git push",
		"git push":                          "git push",
		"gh pr create --title 'Fix it'":     "gh",
		`gh issue view 12`:                  "gh",
		"npm install left-pad":              "npm install",
		"pip install requests==2.32.0":      "pip install",
		"curl https://x.example/a":          "curl",
		"docker ps":                         "docker",
		"go get example.com/mod@v1.2.3":     "go get",
		`git clone "https://x.example/r"`:   "git clone",
		"npm install":                       "", // of whatever a file lists
		"npm install .":                     "",
		"pip install -r requirements.txt":   "",
		"pip install -rrequirements.txt":    "",
		"pip install --target=/etc x":       "",
		"pip install git+https://x.y/z":     "",
		"git -c core.sshCommand=x push":     "",
		"git fetch 'ext::sh -c id'":         "",
		"git fetch --upload-pack=id origin": "",
		"git commit -m x":                   "",
		"git push; id":                      "",
		"git push && id":                    "",
		"git push | tee log":                "",
		"git push > log":                    "",
		"git push &":                        "",
		"! git push":                        "",
		"GIT_SSH_COMMAND=id git push":       "",
		"git push $(id)":                    "",
		"git push `id`":                     "",
		"git push $REMOTE":                  "",
		`git push "$REMOTE"`:                "",
		"git push ori*":                     "",
		"git push {a,b}":                    "",
		"git push ~/x":                      "",
		"git push <(id)":                    "",
		`git push $'a'`:                     "",
		`g\it push`:                         "",
		"git push\nid":                      "",
		"git push # and then":               "",
		"(git push)":                        "",
		"env git push":                      "",
		"sh -c 'git push'":                  "",
		"./git push":                        "",
		"":                                  "",
		"git":                               "",
		"make test":                         "",
		strings.Repeat("git push ", 10_000): "",
	} {
		f, ok := outgoing.Plain(line)
		got := ""
		if ok {
			got = strings.TrimSpace(f.Program + " " + f.Verb)
		}
		if got != want {
			t.Errorf("%.60q: got %q, want %q", line, got, want)
		}
	}
}

// What a shell would do besides, or with other words than those that stand there, is never plain.
func TestNothingThatAShellChangesIsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]string{"git push origin main", "curl https://x.example", "npm install left-pad", "ssh host.example"}).Draw(t, "base")
		sign := rapid.SampledFrom([]string{"$", "`", "|", ";", "&", ">", "<", "(", ")", "\n", "*", "?", "\\", "{a,b}", "~", "#", "!"}).Draw(t, "sign")
		rest := rapid.StringMatching(`[a-z0-9/ ]{0,8}`).Draw(t, "rest")
		line := base + " " + sign + rest
		if f, ok := outgoing.Plain(line); ok && sign != "$" {
			t.Fatalf("%q is plain: %+v", line, f)
		} else if ok && rest != "" && rest[0] != ' ' && rest[0] != '/' {
			t.Fatalf("%q is plain: %+v", line, f)
		}
	})
}
