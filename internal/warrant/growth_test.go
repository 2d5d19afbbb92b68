package warrant_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/tool"
)

// numbered is a text of n parts, each with its number.
func numbered(n int, part string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(part, "#", fmt.Sprint(i)))
	}
	return b.String()
}

// long are values of n parts of some kind.
var long = map[string]func(n int) string{
	"ways up":                func(n int) string { return strings.Repeat("../", n) + "x" },
	"folders":                func(n int) string { return strings.Repeat("a/", n) + "x" },
	"folders that are links": func(n int) string { return strings.Repeat("lk/", n) + "x" },
	"patterns":               func(n int) string { return strings.Repeat("*/", n) + "x" },
	"folders of Windows":     func(n int) string { return `C:\` + strings.Repeat(`a\`, n) },
	"dots":                   func(n int) string { return strings.Repeat("a.", n) + "x" },
	"words":                  func(n int) string { return strings.Repeat("word ", n) },
	"different words":        func(n int) string { return numbered(n, "w# ") },
	"commas":                 func(n int) string { return strings.Repeat("a,", n) },
	"addresses":              func(n int) string { return numbered(n, "a#@b.example, ") },
	"parts of a query":       func(n int) string { return "https://a.example/?" + numbered(n, "k#=v&") },
	"parts of a URL":         func(n int) string { return "https://a.example/" + strings.Repeat("p/", n) },
	"URLs":                   func(n int) string { return numbered(n, "https://a#.example/x ") },
	"labels of a host":       func(n int) string { return "https://" + strings.Repeat("a.", n) + "example" },
	"digits":                 func(n int) string { return strings.Repeat("12", n) },
	"numbers":                func(n int) string { return numbered(n, "# ") },
	"days":                   func(n int) string { return strings.Repeat("2026-01-02 ", n) },
	"quotes":                 func(n int) string { return strings.Repeat(`"a" `, n) },
	"lines":                  func(n int) string { return strings.Repeat("a line\n", n) },
	"files of a patch": func(n int) string {
		return "*** Begin Patch\n" + numbered(n, "*** Update File: f#\n+x\n") + "*** End Patch\n"
	},
	"codes":                    func(n int) string { return numbered(n, "Ab#cD ") },
	"objects in objects":       func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) },
	"letters":                  func(n int) string { return strings.Repeat("Ⱥ", n) },
	"redirects":                func(n int) string { return "echo x" + numbered(n, " > f#") },
	"folders of a redirect":    func(n int) string { return "echo hi > " + strings.Repeat("a/", n) + "x" },
	"ways up of a redirect":    func(n int) string { return "echo hi > " + strings.Repeat("../", n) + "x" },
	"folders of a program":     func(n int) string { return "./" + strings.Repeat("a/", n) + "x" },
	"folders that are entered": func(n int) string { return "cd " + strings.Repeat("a/", n) + "x; ls" },
	"substitutions":            func(n int) string { return "echo" + strings.Repeat(" $(ls)", n) },
	"substitutions in others":  func(n int) string { return "echo " + strings.Repeat("$(echo ", n) + strings.Repeat(")", n) },
	"variables":                func(n int) string { return numbered(n, "v#=x; ") },
	"pipes":                    func(n int) string { return "a" + strings.Repeat("|b", n) },
	"commands":                 func(n int) string { return strings.Repeat("ls; ", n) },
	"files that are removed":   func(n int) string { return "rm" + numbered(n, " f#") },
	"files that are moved":     func(n int) string { return "mv" + numbered(n, " f#") + " d" },
	"files that are written":   func(n int) string { return "echo x | tee" + numbered(n, " a#/f#") },
	"files not known":          func(n int) string { return "ls" + numbered(n, " $X#/y") },
	"files of code":            func(n int) string { return "python3 -c '" + numbered(n, `open("f#","w");`) + "'" },
	"texts of code":            func(n int) string { return "python3 -c '" + numbered(n, `x="a/b#";`) + "'" },
	"modules of code":          func(n int) string { return "python3 -c '" + numbered(n, "import m#;") + "'" },
	"lists of code":            func(n int) string { return "python3 -c 'x=[" + strings.Repeat(`"a",`, n) + "]'" },
	"edits":                    func(n int) string { return "sed -i '" + strings.Repeat("s/a/b/;", n) + "' f" },
	"lines of a document":      func(n int) string { return "cat > f <<E\n" + strings.Repeat("line\n", n) + "E" },
	"braces":                   func(n int) string { return "echo {" + strings.Repeat("a,", n) + "b}" },
	"folders gone to":          func(n int) string { return numbered(n, "cd d#; ") + "rm x" },
	"links":                    func(n int) string { return numbered(n, "ln -s a# b#; ") + "rm x" },
	"settings":                 func(n int) string { return "env " + numbered(n, "A#=b ") + "ls" },
	"options":                  func(n int) string { return "curl" + strings.Repeat(" -o x", n) + " https://a.example" },
	"volumes":                  func(n int) string { return "docker run" + numbered(n, " -v /a#:/b") },
	"packages":                 func(n int) string { return "npm install" + numbered(n, " p#") },
	"words from elsewhere":     func(n int) string { return "echo " + strings.Repeat("x ", n) + "| xargs cat" },
	"variables of variables": func(n int) string {
		return numbered(n/100, "v#=x; ") + numbered(5, "w#="+strings.Repeat("$v1$w1$w2$w3$w4", n/100)+"; ") + "rm $w0"
	},
	"a variable that is set often": func(n int) string { return numbered(n, "v=a#; ") + "rm" + strings.Repeat(" $v", n) },
	"sums":                         func(n int) string { return "echo $((" + strings.Repeat("1+", n) + "1))" },
}

// slotted are calls with a value in every kind of place.
var slotted = []struct{ tool, args string }{
	{"write", `{"path":%s,"content":"x"}`}, {"read", `{"path":%s}`}, {"exec", `{"command":%s}`}, {"web_fetch", `{"url":%s}`},
	{"send_email", `{"to":%s,"body":"x"}`}, {"send_email", `{"to":"a@b.example","body":%s}`}, {"delete_file", `{"path":%s}`},
	{"write", `{"path":"x.md","content":%s}`}, {"apply_patch", `{"patch":%s}`}, {"pay_invoice", `{"recipient":%s}`},
}

// busy is a world with a past: pages were read, files fetched, links made.
func busy() *warrant.Context {
	c := argued("pay the bill in x.md and look at a/x")
	read(c, "web_fetch", `{"url":"https://a.example"}`, `"a page says so: a/x f1 w2 k3=v"`)
	for i := range 8 {
		a := tool.NewArgs(fmt.Appendf(nil, `{"command":"curl -o d%d/f%d https://a.example/x%d; ln -s a%d lk"}`, i, i, i, i))
		c.Did("exec", &a)
	}
	return c
}

// work is what judging a call and noting that it was made takes: bytes that were looked up, and bytes of memory. Both
// are counted, not timed, so that they are the same on every machine.
func work(name, args string) (asked, memory int) {
	c, a := busy(), tool.NewArgs([]byte(args))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c.Of(name, &a)
	asked = c.Sought()
	c.Did(name, &a)
	runtime.ReadMemStats(&after)
	return asked, int(after.TotalAlloc - before.TotalAlloc)
}

// An argument of four times the length takes about four times the work. What is quadratic takes sixteen times.
func TestWorkGrowsNoFasterThanWhatItIsDoneFor(t *testing.T) {
	const few, factor, most = 1000, 4, 8
	grows := func(what, tool, less, more string) {
		asked, memory := work(tool, less)
		askedMore, memoryMore := work(tool, more)
		if askedMore > most*asked+64<<10 {
			t.Errorf("%s, %s: looked up %d bytes, and %d for %d times as much", what, tool, asked, askedMore, factor)
		}
		if memoryMore > most*memory+1<<20 {
			t.Errorf("%s, %s: took %d bytes of memory, and %d for %d times as much", what, tool, memory, memoryMore, factor)
		}
	}
	for what, value := range long {
		for _, s := range slotted {
			grows(what, s.tool, fmt.Sprintf(s.args, quote(value(few))), fmt.Sprintf(s.args, quote(value(factor*few))))
		}
	}
	for what, args := range map[string]func(n int) string{
		"keys":             func(n int) string { return `{"x":1` + numbered(n, `,"key_#":"value #"`) + `}` },
		"entries":          func(n int) string { return `{"to":["a@b.example"` + numbered(n, `,"a#@b.example"`) + `]}` },
		"lists in lists":   func(n int) string { return `{"to":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` },
		"objects of lists": func(n int) string { return `{"items":[{"id":0}` + numbered(n, `,{"id":#,"path":"a/b#"}`) + `]}` },
	} {
		for _, name := range []string{"send_email", "write", "exec", "delete_file"} {
			grows(what, name, args(few/2), args(factor*few/2)) // the longer has as many as are read
		}
	}
}

// A call of four times as many values, for words of four times the length, takes about four times the work: what the words
// say is made ready once, and not for each value.
func TestWorkIsNotOneTimesTheOther(t *testing.T) {
	const few, factor, most = 60, 4, 9
	judge := func(name, args string, words int) int {
		c := argued("send the mail to a1@b.example and tell: " + numbered(words, "word# x#@b.example f#/g# "))
		read(c, "list_contacts", `{}`, `{"contacts":[{"name":"x"}`+numbered(few, `,{"name":"word# person","email":"x#@b.example","f":"f#"}`)+`]}`)
		a := tool.NewArgs([]byte(args))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.Of(name, &a)
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	for what, args := range map[string]func(n int) string{
		"keys":             func(n int) string { return `{"x":1` + numbered(n, `,"key_#":"value #"`) + `}` },
		"entries":          func(n int) string { return `{"to":["a@b.example"` + numbered(n, `,"a#@b.example"`) + `]}` },
		"objects of lists": func(n int) string { return `{"items":[{"id":0}` + numbered(n, `,{"id":#,"path":"a/b#"}`) + `]}` },
	} {
		for _, name := range []string{"send_email", "delete_file"} {
			less, more := judge(name, args(2*few), few), judge(name, args(factor*2*few), factor*few)
			if more > most*less+1<<20 {
				t.Errorf("%s, %s: took %d bytes of memory, and %d for %d times as much", what, name, less, more, factor)
			}
		}
	}
}

// endsOf are paths that are longer than any that is read, as ways to files of every kind.
func endsOf(file string) []string {
	return []string{
		strings.Repeat("../", 20_000) + file,
		strings.Repeat("a/../", 300) + file,
		"/" + strings.Repeat("./", 3000) + file,
		strings.Repeat("x", 5000) + "/" + file,
		file + strings.Repeat("/", 4097),
	}
}

// What cannot be read is asked about, whatever the user said and whether anything was read before.
func TestAPathTooLongToBeJudgedIsAskedAbout(t *testing.T) {
	for _, file := range []string{"notes.md", ".bashrc", "x"} {
		for _, path := range endsOf(file) {
			for name, c := range map[string]*warrant.Context{
				"nothing was read":   world("write notes.md, .bashrc and x in a"),
				"a page was read":    argued("write notes.md, .bashrc and x in a"),
				"the user named it":  argued("write " + path),
				"links were made":    busy(),
				"nobody said a word": argued(),
			} {
				for _, s := range []struct{ tool, args string }{
					{"write", `{"path":%s,"content":"x"}`}, {"read", `{"path":%s}`}, {"edit", `{"path":%s,"old_text":"a","new_text":"b"}`},
				} {
					if w := of(c, s.tool, fmt.Sprintf(s.args, quote(path))); !w.Danger {
						t.Errorf("%s, %s of %.20s…%s: not asked about", name, s.tool, path, file)
					}
				}
				if name == "the user named it" {
					continue // who wrote the command wants it
				}
				for _, command := range []string{"echo x > ", "tee ", "rm ", "chmod +x ", "cp a ", "sed -i s/a/b/ "} {
					if w := of(c, "exec", `{"command":`+quote(command+path)+`}`); !w.Danger {
						t.Errorf("%s, %s%.20s…%s: not asked about", name, command, path, file)
					}
				}
			}
			w := of(argued("delete notes.md, .bashrc and x in a"), "delete_file", `{"path":`+quote(path)+`}`)
			if !asked(w) {
				t.Errorf("delete_file of %.20s…%s: not asked about", path, file)
			}
		}
	}
}

// A call that makes more be looked for than its length warrants is held, whatever was found of it.
func TestMoreThanCanBeLookedForIsHeld(t *testing.T) {
	command := func(n int) string {
		return "echo x | tee" + strings.ReplaceAll(numbered(n, " "+strings.Repeat("aaaaaaaaaaaaa#/", 240)+"zz/.envrc"), "\n", "")
	}
	c := argued("put x into zz/.envrc")
	if w := of(c, "exec", `{"command":`+quote(command(1))+`}`); w.Danger {
		t.Errorf("one file that the user named: %+v", w.Slots)
	}
	w := of(c, "exec", `{"command":`+quote(command(15))+`}`)
	if !w.Danger || w.Deed != warrant.Unknown {
		t.Errorf("%d bytes were looked up, and it is %s", c.Sought(), w.Deed)
	}
	if w := of(c, "exec", `{"command":`+quote(command(1))+`}`); w.Danger {
		t.Errorf("the next call has not the room of its own: %+v", w.Slots)
	}
}
