package shell

import "strings"

// hints are what a line must mention to be worth reading as a command.
var hints = []string{"curl", "wget", "base64", "fetch", "http", "nc ", "/dev/tcp", "iex", "xxd"}

// maxHinted bounds how many lines of a file are read.
const maxHinted = 100

// Planted finds the commands in the text of a file, whatever its language, that run what
// they fetch or decode: lines of a makefile or script, and commands that code quotes. It
// reads lines that mention such a thing, and no more than a hundred of them.
func Planted(text string) []*Line {
	var out []*Line
	r := NewReader()
	hinted := 0
	for l := range strings.Lines(text) {
		if len(l) > maxCommand || !mentions(l, hints) {
			continue
		}
		if hinted++; hinted > maxHinted {
			break
		}
		l = strings.TrimPrefix(strings.TrimLeft(l, " \t@-+"), "RUN ")
		for _, candidate := range append(quoted(l), l) {
			if !strings.ContainsAny(candidate, " \t") {
				continue
			}
			if line := r.Read(candidate); line.Found.Has(RunsFetched) {
				out = append(out, line)
				break
			}
		}
	}
	return out
}
