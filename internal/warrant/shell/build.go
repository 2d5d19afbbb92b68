package shell

import (
	"path"
	"slices"
	"strings"
)

// builders build or test what lies in a folder, by its own rules.
var builders = set(`make gmake cmake ninja just task pytest py.test tox nox gradle gradlew mvn mvnw rake ant meson scons
	bazel phpunit rspec jest vitest mocha configure autogen.sh bootstrap`)

// buildVerbs are the words by which programs that do other things too build or test.
var buildVerbs = map[string]map[string]bool{
	"npm":      set("test t run run-script start install i ci rebuild exec build"),
	"pnpm":     set("test run start install i exec build dev"),
	"yarn":     set("test run start install exec build dev"),
	"bun":      set("test run install build"),
	"go":       set("test run generate"),
	"cargo":    set("build run test check bench install"),
	"bundle":   set("exec install"),
	"composer": set("install run test"),
	"mix":      set("test compile run"),
	"dotnet":   set("build test run"),
	"swift":    set("build test run"),
	"docker":   set("build compose"),
	"pip":      set("install"),
	"pip3":     set("install"),
	"uv":       set("run sync"),
	"poetry":   set("run install sync"),
	"python":   set("-m"),
	"python3":  set("-m"),
}

// building reports whether the program builds or tests what lies here.
func (c *call) building() bool {
	if builders[c.name] || c.name == "yarn" && len(c.args) == 0 {
		return true
	}
	verbs := buildVerbs[c.name]
	if verbs == nil || len(c.args) == 0 {
		return false
	}
	is := func(a Word) bool { return verbs[a.Text] }
	_, firsts := operands(c.args, nil)
	return is(c.args[0]) || slices.ContainsFunc(firsts, is) || verbs["-m"] && slices.ContainsFunc(before(c.args, firsts), is)
}

// before are the words that stand before all of some of them.
func before(args, some []Word) []Word {
	if len(some) == 0 {
		return args
	}
	return args[:slices.IndexFunc(args, func(a Word) bool { return a.Text == some[0].Text })]
}

// dataFiles are endings of files that nothing runs.
var dataFiles = set(`.csv .tsv .json .txt .html .htm .xml .png .jpg .jpeg .gif .svg .pdf .md .log .zip .tgz .gz .tar .xz
	.bz2 .parquet .ico .woff .woff2 .mp4 .mp3 .sql .rst`)

// Data reports whether a file, by its name from the folder that is worked in, is one that nothing runs.
func Data(file string) bool { return !codeFile(file) }

// Works says in which folder is worked: what lies in it is of the work, wherever the folder is. Case says nothing, here as where names of
// files are compared.
func (r *Reader) Works(folder string) {
	if r.folder = ""; path.IsAbs(folder) {
		r.folder = strings.TrimSuffix(strings.ToLower(path.Clean(folder)), "/") + "/"
	}
}

// Data is Data for a file by any name.
func (r *Reader) Data(file string) bool {
	if r.folder != "" && path.IsAbs(file) {
		file = strings.TrimPrefix(strings.ToLower(path.Clean(file)), r.folder)
	}
	return Data(file)
}

// holds reports whether a folder by its full name is in the one that is worked in.
func (r *Reader) holds(folder string) bool {
	return r.folder != "" && strings.HasPrefix(strings.ToLower(path.Clean(folder))+"/", r.folder)
}

// Elsewhere reports whether a file, by its name from the folder that is worked in, lies outside of that and of what is for passing things
// on. Where nobody says which folder that is, a full name may be in it.
func (r *Reader) Elsewhere(file string) bool {
	low := strings.ToLower(file)
	switch {
	case strings.HasPrefix(low, "~"), strings.HasPrefix(low, "$home"), strings.HasPrefix(low, "${home"):
		return true
	case !path.IsAbs(low):
		return strings.HasPrefix(path.Clean(low), "..")
	}
	low = path.Clean(low)
	return r.folder != "" && !strings.HasPrefix(low+"/", r.folder) && !strings.HasPrefix(low, "/tmp/") && !strings.HasPrefix(low, "/dev/")
}

// codeFile reports whether a build of the folder here may run a file. What is below /tmp is no part of the work, unless that is done there.
func codeFile(file string) bool {
	if strings.HasPrefix(file, "/tmp/") || strings.HasPrefix(file, "/dev/") {
		return false
	}
	base := strings.ToLower(path.Base(file))
	return base == "package.json" || base == "composer.json" || base == "cmakelists.txt" || !dataFiles[path.Ext(base)]
}

// runners run the file they are given.
var runners = set(`coverage java tsx ts-node jshell dotnet mono wine npx bunx pipx rscript qemu-x86_64 guile elixir escript groovy
	kotlin scala swift julia racket sbcl`)

// compilers make a file that runs out of the ones they are given.
var compilers = set("gcc cc g++ clang clang++ rustc c++ tcc")

// programOptions are those whose next word is a program that is run.
var programOptions = set(`--pre --compress-program --use-compress-program -vettool --vettool -toolexec --toolexec -exec --exec --config
	--runner --require -r --import --loader`)

// runsOptions reads the files that options name, of this work or from elsewhere: one may be a program.
func (c *call) runsOptions() {
	for i, a := range c.args {
		if !strings.HasPrefix(a.Text, "-") {
			continue
		}
		file := a.Text[strings.LastIndexByte(a.Text, '=')+1:]
		if file == a.Text {
			if !programOptions[file] || i+1 >= len(c.args) {
				continue
			}
			next := c.args[i+1].Text
			file = next[strings.LastIndexByte(next, '=')+1:]
		}
		if file = strings.Trim(file, `"'[]`); file == "" || dataFiles[strings.ToLower(path.Ext(file))] {
			continue
		}
		if c.isFetched(file) {
			c.does |= RunsFetched
		}
		if _, ok := c.wrote(file); ok {
			c.ran(file, false)
		}
	}
}

// runsFile reads programs that run a file, or make one that runs.
func (c *call) runsFile() {
	c.runsOptions()
	fetched := slices.ContainsFunc(c.args, func(a Word) bool { return c.isFetched(a.Text) })
	if runners[c.name] || compilers[c.name] {
		for _, a := range c.args {
			if _, ok := c.wrote(a.Text); ok && !strings.HasPrefix(a.Text, "-") {
				c.ran(a.Text, true)
			}
		}
	}
	switch {
	case !fetched:
	case runners[c.name]:
		c.does |= RunsFetched
	case compilers[c.name]:
		flags, _ := options(c.args, "o", nil)
		for _, o := range append(flags["-o"], "a.out") {
			c.bring(o)
		}
	}
}

// builds reads make and its kin: they run what a file here says.
func (c *call) builds() {
	if slices.ContainsFunc(c.args, func(a Word) bool { return c.isFetched(a.Text) }) {
		c.does |= RunsFetched
	}
	flags, rest := options(c.args, "fCjloIW", set("--eval --file --directory"))
	for _, v := range flags["--eval"] {
		c.recipe(v)
	}
	for _, name := range append([]string{"Makefile", "makefile", "GNUmakefile"}, append(flags["-f"], flags["--file"]...)...) {
		if f, ok := c.wrote(name); ok && f.text != "" {
			c.recipe(f.text)
		}
	}
	if slices.Contains(flags["-f"], "-") || slices.Contains(flags["--file"], "-") {
		c.does |= c.fetchedIn()
		if !c.in.known {
			c.unread()
			return
		}
		c.recipe(c.in.text)
	}
	for _, a := range rest {
		if v, ok := strings.CutPrefix(a.Text, "SHELL="); ok && !IsShell(v) {
			c.script(v, flow{})
		}
	}
	if i := slices.IndexFunc(c.args, func(a Word) bool { return a.Text == "env" }); c.name == "cmake" && i > 0 && c.args[i-1].Text == "-E" {
		c.inner(c.args[i:], false)
	}
}

// recipe reads the commands of a makefile's text.
func (c *call) recipe(text string) {
	for l := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) { // a line goes on behind a backslash
		if l[0] == '\t' {
			c.script(strings.TrimLeft(l, "\t@-+"), flow{})
		} else if _, command, ok := strings.Cut(l, ";"); ok {
			c.script(command, flow{})
		} else if i := strings.Index(l, "$(shell "); i >= 0 {
			c.does |= c.started(strings.TrimRight(l[i+8:], ")\n "))
		}
	}
}

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

// settingGiven reports whether a variable names a file from elsewhere that something may run.
func (w *walker) settingGiven(value string) bool {
	words := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" :=,;", r) })
	return slices.ContainsFunc(words, func(f string) bool { return w.isFetched(f) && !w.reader.Data(f) })
}
