package remembered_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/remembered"
	"github.com/tidemark/tidemark/internal/warrant/shell"
)

func TestWhichFilesOfEarlierSessionsALineMeans(t *testing.T) {
	files := remembered.Files{{Name: "/w/a/tests/x.py", What: remembered.Deaf}}
	for line, want := range map[string]bool{
		"python3 tests/x.py": true, "cd tests; python3 x.py": true, "pytest": true, "git commit -m x": true, "./app": true, "cp tests/x.py y.py": true,
		"cat tests/x.py | sh": true, "chmod +x tests/x.py": true, "python3 $(ls tests/*.py)": true, "find . -name x.py -exec python3 {} \\;": true,
		"ls tests": false, "cat tests/x.py": false, "git diff tests/x.py": false, "grep foo tests/x.py | wc -l": false,
		"python3 other.py": false, "git status": false,
	} {
		reader := shell.NewReader()
		reader.Remember(files)
		if got := len(files.Meant(reader.Read(line))) > 0; got != want {
			t.Errorf("%s: means it: %v, want %v", line, got, want)
		}
	}
}

func TestAFileOfAnotherFolderCountsOnlyWhereItIsNamed(t *testing.T) {
	files := remembered.Files{{Name: "/w/a/x.py", What: remembered.Deaf, Far: true}}
	if got := files.Meant(shell.Read("make")); len(got) != 0 {
		t.Errorf("a build here runs %v", got)
	}
	if got := files.Meant(shell.Read("python3 /w/a/x.py")); len(got) == 0 {
		t.Error("it is run by its name, and nobody notices")
	}
}

// More text in a line never makes it mean fewer files.
func TestMoreOfALineNeverMeansLess(t *testing.T) {
	files := remembered.Files{{Name: "/w/x.py", What: remembered.Deaf}, {Name: "/w/b/y.sh", What: remembered.Deaf}}
	parts := rapid.SampledFrom([]string{"python3 x.py", "sh b/y.sh", "ls", "cat x.py", "make", "echo a > c", "cp x.py z", "true"})
	rapid.Check(t, func(rt *rapid.T) {
		a, b := parts.Draw(rt, "first"), parts.Draw(rt, "then")
		one, both := files.Meant(shell.Read(a)), files.Meant(shell.Read(a+"; "+b))
		if len(files.Meant(shell.Read(a))) > 0 && len(both) == 0 {
			rt.Fatalf("%q means %v, with %q nothing", a, one, b)
		}
	})
}
