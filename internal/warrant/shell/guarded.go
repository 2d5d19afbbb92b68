package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// namers tell of files no more than that they are there.
var namers = set(`ls ll dir stat test [ [[ echo printf cd pushd popd chdir readlink realpath basename dirname du df tree which type
	export true false : set mkdir find fd fdfind locate plocate mlocate mdfind exec`)

// deepAlways take all that is in the folders they are given.
var deepAlways = set(`rg ag ack ugrep mv rsync ln ditto rclone restic borg duplicity pax docker podman nerdctl mount bindfs bwrap
	http-server serve darkhttpd tarsnap rdiff-backup`)

// deepBy are the flags by which others do.
var deepBy = map[string][]string{
	"grep": {"-r", "-R", "--recursive", "--dereference-recursive"}, "egrep": {"-r", "-R", "--recursive"},
	"fgrep": {"-r", "-R", "--recursive"}, "zgrep": {"-r"}, "cp": {"-r", "-R", "-a", "--recursive", "--archive"}, "gcp": {"-r", "-R", "-a"}, "scp": {"-r"},
	"zip": {"-r", "--recurse-paths", "-R"}, "diff": {"-r", "--recursive"}, "chmod": {"-R", "--recursive"}, "chown": {"-R", "--recursive"},
	"setfacl": {"-R"}, "chgrp": {"-R"},
}

// lastIsTarget are those whose last word is where something goes.
var lastIsTarget = set("cp gcp mv ln rsync scp ditto rclone install")

// deep reports whether a program takes all that is in the folders it is given.
func (c *call) deep() bool {
	switch c.name {
	case "tar", "bsdtar", "gtar":
		for i, a := range c.args {
			long := strings.HasPrefix(a.Text, "--")
			if long && slices.Contains([]string{"--create", "--append", "--update"}, a.Text) ||
				!long && (i == 0 || strings.HasPrefix(a.Text, "-")) && strings.ContainsAny(a.Text, "cru") {
				return !c.takesApart()
			}
		}
		return false
	case "7z", "7za", "7zz":
		return len(c.args) > 0 && c.args[0].Text == "a"
	}
	if deepAlways[c.name] {
		return true
	}
	if slices.ContainsFunc(c.args, func(a Word) bool { return a.Text == "http.server" }) {
		return true
	}
	by := deepBy[c.name]
	flags, _ := options(c.args, "", nil)
	return len(by) > 0 && anyFlag(flags, by...)
}

// oversees looks for the station among the words of a program: its files, by whatever names
// them, its listener, its process.
func (c *call) oversees() {
	if c.does.Has(Oversight) {
		return
	}
	network := c.does.Has(Network) || tunnels[c.name]
	if network && c.reachesUs() || c.shutsUs() || c.endsUs() {
		c.does |= Oversight
		return
	}
	if namers[c.name] {
		c.hunted = c.hunted || c.hunts()
		return
	}
	deep := c.deep() && !c.does.Has(BreaksOut) // which says it already
	words := c.args
	if n := len(words); deep && n > 1 && lastIsTarget[c.name] {
		c.reached(words[n-1].Text, false)
		words = words[:n-1]
	}
	for _, a := range words {
		c.reached(a.Text, deep)
		if a.flow.ours {
			c.does |= Oversight
		}
	}
	if deep && c.where.moved && c.unplaced() {
		c.reached(".", true)
	}
}

// unplaced reports whether a program that goes through folders is told of none: then it is
// the one where the line is.
func (c *call) unplaced() bool {
	flags, rest := options(c.args, readerValues[c.name]+"d", nil)
	if c.name == "grep" || c.name == "rg" || c.name == "ag" || c.name == "ack" {
		return len(rest) < 2
	}
	return len(rest) == 0 || strings.HasPrefix(c.name, "python") && !anyFlag(flags, "-d", "--directory")
}

// reached notes that a program is given a file of the station's, or a folder around them.
func (c *call) reached(text string, deep bool) {
	for _, t := range spellings(text) {
		for _, f := range c.everywhere(t) {
			if r := c.reader.relation(f); r == inside || r == above && deep {
				c.does |= Oversight
			}
		}
	}
}

// spellings are the ways in which a word may name a file: itself, after a sign or a flag.
func spellings(text string) []string {
	if text == "" || strings.ContainsAny(text, "\n") || len(text) > maxFolderName {
		return nil
	}
	out := []string{text}
	if _, v, ok := strings.Cut(text, "="); ok {
		out = append(out, v)
	}
	if i := strings.LastIndexAny(text, "@<"); i >= 0 {
		out = append(out, text[i+1:])
	}
	if text[0] == '-' && len(text) > 3 && (text[2] == '/' || text[2] == '~') {
		out = append(out, text[2:])
	}
	if from, _, ok := strings.Cut(text, ":"); ok && from != "" {
		out = append(out, from)
	}
	return out
}

// tunnels carry what they are given to an address, without being clients of anything.
var tunnels = set("telnet nc ncat netcat socat ssh websocat grpcurl ab wrk hey h2load siege httperf vegeta k6 bombardier rlwrap openssl")

// keptNames are the files of the station that somebody may look for.
var keptNames = []string{"tokens.json", "server.json", "tidemark.db", "tidemark.yaml", "openclaw.json", "tidemark"}

// hunts reports whether a search through folders may come upon files of the station.
func (c *call) hunts() bool {
	around, filtered, fitting := false, false, false
	for i, a := range c.args {
		for _, f := range c.everywhere(a.Text) {
			around = around || !strings.HasPrefix(a.Text, "-") && c.reader.relation(f) != apart
		}
		if i == 0 || !searchBy[c.args[i-1].Text] {
			continue
		}
		filtered = true
		want := strings.ToLower(path.Base(a.Text))
		fitting = fitting || !a.Known || fits(want, keptNames) || strings.Contains(strings.ToLower(a.Text), "tidemark")
	}
	if strings.Contains(c.name, "locate") || c.name == "mdfind" {
		return slices.ContainsFunc(c.args, func(a Word) bool { return seeks(a.Text) })
	}
	return around && (!filtered || fitting)
}

var searchBy = set("-name -iname -path -ipath -wholename -regex -iregex -g --glob -e --extension")

// seeks reports whether a text is part of the name of such a file.
func seeks(text string) bool {
	text = strings.ToLower(strings.Trim(text, "*/"))
	kept := func(n string) bool { return strings.Contains(n, text) || strings.Contains(text, n) }
	return len(text) > 2 && slices.ContainsFunc(keptNames, kept)
}

// codeWalks are what code says when it goes through folders, and codeHome when it begins at home.
var (
	codeWalks = []string{
		"walk", "glob", "scandir", "listdir", "readdir", "copytree", "make_archive", "tarfile", "iterdir", "find.find", "dir[",
	}
	codeHome = []string{"home()", "homedir(", "expanduser", "'home'", "\"home\"", "env.home", "dir.home", "$home"}
)

// codeOversees is what code given in a command does to the station.
func (w *walker) codeOversees(code string, does Effects) Effects {
	low := strings.ToLower(code)
	walks := mentions(low, codeWalks)
	if w.reader.names(low) && (does.Has(Network) || localName.MatchString(low)) || walks && mentions(low, codeHome) {
		return Oversight
	}
	for _, q := range quoted(code) {
		for _, t := range spellings(q) {
			if r := w.reader.relation(w.at(t)); r == inside || r == above && walks && t != "" {
				return Oversight
			}
		}
		if strings.Contains(strings.ToLower(q), "tidemark/") && fits(path.Base(strings.ToLower(q)), keptNames) {
			return Oversight
		}
	}
	return 0
}

var localName = regexp.MustCompile(`localhost|127\.|0\.0\.0\.0|::1|0x7f`)
