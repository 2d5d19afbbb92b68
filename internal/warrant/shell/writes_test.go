package shell_test

import (
	"slices"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/shell"
)

const oakPatch = "*** Begin Patch\n*** Update File: src/oak.py\n*** Move to: .git/hooks/pre-push\n+echo birch\n*** End Patch\n"

// WAR-05
func TestAPatchWritesTheFilesItNames(t *testing.T) {
	for text, want := range map[string][]string{
		oakPatch: {"src/oak.py", ".git/hooks/pre-push"},
		"--- a/oak.md\n+++ b/birch.md\n@@ -1 +1 @@\n-a\n+b\n":                       {"oak.md", "birch.md"},
		"--- /dev/null\n+++ b/birch.md\t2026-01-02\n@@ -0,0 +1 @@\n+b\n":            {"birch.md"},
		"diff --git a/oak.md b/.envrc\nrename from oak.md\nrename to .envrc\n":      {"oak.md", ".envrc"},
		"just a text\n--- and a line\n":                                             nil,
		"*** Begin Patch\n*** Delete File: oak.py\n*** End Patch\n":                 {"oak.py"},
		"*** Begin Patch\r\n*** Add File: \"oak tree.py\"\r\n+x\r\n*** End Patch\r": {"oak tree.py"},
	} {
		var got []string
		for _, m := range shell.Patched(text) {
			got = append(got, m.File)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestACommandWritesWhatItIsToldToWrite(t *testing.T) {
	for command, want := range map[string]string{
		"apply_patch <<'E'\n" + oakPatch + "E":                                            ".git/hooks/pre-push",
		"apply_patch '" + oakPatch + "'":                                                  ".git/hooks/pre-push",
		"cd sub && git apply <<'E'\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nE":             "sub/x",
		"patch -p1 <<'E'\n--- a/CLAUDE.md\n+++ b/CLAUDE.md\n@@ -1 +1 @@\n-a\n+b\nE":       "CLAUDE.md",
		"git apply < f.patch":                                                             "",
		"printf '%s' '" + oakPatch + "' > f.patch; git apply f.patch":                     ".git/hooks/pre-push",
		"printf '%s' '" + oakPatch + "' > f.patch; git apply < f.patch":                   ".git/hooks/pre-push",
		`python3 -c "open('CLAUDE.md','a').write('x')"`:                                   "CLAUDE.md",
		"python3 - <<'E'\nimport json\nopen('AGENTS.md', mode='a').write(str([1, 2]))\nE": "AGENTS.md",
		"node -e \"require('fs').appendFileSync('.cursorrules','x')\"":                    ".cursorrules",
		"python3 -c 'import sys; open(sys.argv[1],\"w\").write(\"x\")' ~/.bashrc":         "~/.bashrc",
		"cat a.txt": "",
	} {
		line := shell.Read(command)
		if want != "" && !slices.Contains(line.Writes, want) {
			t.Errorf("%s: writes %q, want %s among them", command, line.Writes, want)
		}
		if want == "" && len(line.Writes) > 0 {
			t.Errorf("%s: writes %q, want nothing", command, line.Writes)
		}
	}
}

func TestANameThatCodeHidesIsSaidToBeHidden(t *testing.T) {
	for code, want := range map[string]bool{
		"open('oak.txt','w').write('x')":                                          false,
		"p = 'oak.py'\nopen(p, 'w').write(open(p).read())":                        false,
		"for f in files:\n    open(f, 'w').write('x')":                            false,
		"open(base + '.txt', 'w').write('x')":                                     false,
		"open(os.path.join(d, 'oak.json'), 'w').write('x')":                       false,
		"open('oak.png', 'wb').write(base64.b64decode(data))":                     false,
		"p = ''.join(map(chr, [46, 98]))\nopen(p, 'w').write('x')":                true,
		"open(base64.b64decode('LmJhc2hyYw==').decode(), 'w').write('x')":         true,
		"a = '.ba'\nb = 'shrc'\nopen(a + b, 'w').write('x')":                      true,
		"from pathlib import Path\nPath('crhsab.'[::-1]).write_text('x')":         true,
		"open('crhsab.'[::-1]).read()":                                            false,
		"import sys\nfor l in open(sys.argv[1]):\n    print(l.replace('a', 'b'))": false,
	} {
		if got := shell.Read("python3 - <<'E'\n" + code + "\nE").Hidden; got != want {
			t.Errorf("%q: hidden is %v, want %v", code, got, want)
		}
	}
}

func TestCaseHidesNoFile(t *testing.T) {
	for _, f := range []string{"CMakeLists.txt", "cmakelists.txt", "Package.JSON"} {
		if shell.Data(f) {
			t.Errorf("%s is what a build is made by", f)
		}
	}
	for _, f := range []string{".GIT/hooks/pre-commit", "~/.BASHRC", ".Github/Workflows/a.yml", "JENKINSFILE", "/ETC/passwd", "~/.SSH/Authorized_Keys"} {
		if !shell.Lasting(f) {
			t.Errorf("%s does not last", f)
		}
	}
	for _, f := range []string{"~/.SSH/id_rsa", ".ENV", "~/.aws/CREDENTIALS"} {
		if !shell.Secret(f) {
			t.Errorf("%s is no secret", f)
		}
	}
}

func TestWhatOthersBringAndWhereTheyLead(t *testing.T) {
	for command, want := range map[string]shell.Effects{
		"uv run --with oak-kit python -c 1": shell.Install, "uv run --with=oak-kit pytest": shell.Install, "uv run -w oak-kit pytest": shell.Install,
		"kubectl config set-cluster oak --server=https://oak.example": shell.Persist, "kubectl config set-credentials oak --token=1": shell.Persist,
		"terraform init -upgrade": shell.Install, "terraform output -json": shell.ReadsSecret, "terraform state pull": shell.ReadsSecret,
		"sed -f oak.sed notes.txt": shell.Unparsed, "sed --file=oak.sed notes.txt": shell.Unparsed,
	} {
		if got := shell.Read(command).Effects; !got.Has(want) {
			t.Errorf("%s: got %v, want %v", command, got, want)
		}
	}
	const grave = shell.Install | shell.Persist | shell.ReadsSecret | shell.Unparsed
	for _, command := range []string{
		"uv run pytest -q", "kubectl config get-contexts", "kubectl config set-context --current --namespace=oak", "terraform init", "terraform plan",
		"terraform state list", "sed -n 1,5p notes.txt",
	} {
		if got := shell.Read(command).Effects; got&grave != 0 {
			t.Errorf("%s: got %v", command, got)
		}
	}
}

func TestWhatIsTypedLaterIsNotKnown(t *testing.T) {
	for command, want := range map[string][3]bool{ // opens, pages, fed
		"python3": {true, false, false}, "python3 -i": {true, false, false}, "node": {true, false, false}, "ruby": {},
		"python3 --version": {}, "node -v": {}, "node --test": {}, "python3 oak.py": {}, "python3 -c 'print(1)'": {}, "php -r 'echo 1;'": {},
		"less notes.txt": {false, true, false}, "man ls": {false, true, false}, "git log": {false, true, false}, "git status": {},
		"make | python3": {false, false, true}, "echo 'print(1)' | python3": {}, "python3 < /dev/null": {false, false, false},
		"python3 -i oak.py": {true, false, false}, "python3 -i -c 'print(1)'": {true, false, false}, "node --interactive": {true, false, false},
		"git commit": {false, true, false}, "git commit --amend": {false, true, false}, "git rebase -i HEAD~1": {false, true, false},
		"git commit -Sm": {false, true, false}, "git commit -cm": {false, true, false}, "git commit -tFm": {false, true, false}, "git commit -qamoak": {},
		"git add -p": {false, true, false}, "git config --edit": {false, true, false}, "git tag -a v1": {false, true, false},
		"git commit -m oak": {}, "git commit -qam oak": {}, "git commit --amend --no-edit": {}, "git commit --message=oak": {}, "git add oak": {}, "git push": {},
	} {
		if command == "ruby" {
			want[0] = true
		}
		l := shell.Read(command)
		if command == "python3 < /dev/null" {
			want[0] = true // nothing is fed, so something may be typed
		}
		if got := [3]bool{l.Opens, l.Pages, l.Fed}; got != want {
			t.Errorf("%s: opens, pages, fed are %v, want %v", command, got, want)
		}
	}
}
