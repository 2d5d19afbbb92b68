package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// What becomes of a file that a program is given is known of some: they show it, or this package reads which
// of their words they write. Any other may run a file from elsewhere, and may write one that lasts.

// plainUses are the programs that show, compare, count and check files, or put them somewhere as they are.
var plainUses = set(`cat tac nl head tail less more bat view strings od hexdump grep egrep fgrep rg ag cut tr jq diff cmp comm file
	wc paste column fold fmt rev zcat ls stat du tree find fd test [ [[ basename dirname realpath readlink md5sum sha256sum shasum cksum
	echo printf cd pushd popd chdir which type command export set unset local read xargs
	cp mv install ln rename tee touch truncate sponge rm rmdir unlink shred chmod chown chgrp dd sed gsed patch apply_patch applypatch
	curl wget rsync scp git gh tar bsdtar unzip 7z gunzip cpio
	shellcheck actionlint yamllint mypy flake8 pylint`)

// given looks at the files among a program's words.
func (c *call) given() {
	if plainUses[c.name] || shells[c.name] || c.name == "source" || c.name == "." {
		return
	}
	base := strings.TrimRight(c.name, "0123456789.")
	interprets := interpreters[c.name] || interpreters[base]
	for _, a := range c.args {
		file := a.Text[strings.LastIndexByte(a.Text, '=')+1:]
		if file == "" || strings.HasPrefix(file, "-") || strings.ContainsAny(file, "\n ") || strings.Contains(file, "://") {
			continue
		}
		if c.isFetched(file) {
			c.givenStrange(file)
		}
		if !interprets && !c.does.Has(Network) {
			c.mayWrite(file)
		}
	}
}

// givenStrange reads a program that is given a file, or a folder, from elsewhere.
func (c *call) givenStrange(file string) {
	switch ext := strings.ToLower(path.Ext(file)); {
	case packed[ext]:
		c.line.Spills = true
		c.bring(strings.TrimSuffix(file, path.Ext(file)))
		flags, _ := options(c.args, "o", nil)
		for _, o := range flags["-o"] {
			c.bring(o)
		}
	case compilers[c.name] || dataFiles[ext]:
	default:
		c.does |= RunsFetched
	}
}

// packed are the endings of what programs take apart or unpack.
var packed = set(".gz .xz .zst .bz2 .zip .tgz .tar .7z .lz4 .lzma .br .rar")

// mayWrite notes a file that lasts and that something may write.
func (w *walker) mayWrite(file string) {
	for _, f := range w.everywhere(file) {
		if Lasting(f) {
			note(&w.line.Touches, f)
		}
	}
}

// reading is where code only looks at a file: a call of this name with nothing else in it but its name, or the
// mode for reading.
var reading = regexp.MustCompile(`(?i)(?:\bopen|readfile(?:sync)?|read_text|file_get_contents|file\.read|file\.open|exists(?:sync)?|isfile|stat(?:sync)?` +
	`|load|path|getsize|fopen)\s*\(\s*[rb]?['"]([^'"\n]*)['"]\s*(?:,\s*['"](?:r|rb|rt|utf-?8)['"]\s*)?\)`)

// codeTouches notes the files that last among the texts of code, but for those that it only looks at.
func (w *walker) codeTouches(code string) {
	looked := map[string]int{}
	for _, m := range reading.FindAllStringSubmatch(code, maxNamed) {
		looked[m[1]]++
	}
	for _, q := range quoted(code) {
		if looked[q]--; looked[q] < 0 && fileLike(q) {
			w.mayWrite(q)
		}
	}
}

// listed are the commands that code gives word by word: ["curl", "-d", "@notes", address].
func listed(code string) []string {
	var out []string
	for _, m := range wordList.FindAllString(code, maxNamed) {
		var words []string
		for _, q := range quoted(m) {
			words = append(words, "'"+strings.ReplaceAll(q, "'", `'\''`)+"'")
		}
		if len(words) > 1 {
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

// wordList is a row of quoted texts, as a list or as the arguments of a call, also of one for each.
var wordList = regexp.MustCompile(`(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')` +
	`(?:\s*[,)]\s*(?:\.\s*args?\(\s*)?[\[&{]*\s*(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))+`)

// settingGiven reports whether a variable names a file from elsewhere that something may run.
func (w *walker) settingGiven(value string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" :=,;", r) }), func(f string) bool {
		return w.isFetched(f) && codeFile(f)
	})
}
