package shell

import (
	"maps"
	"slices"
	"strings"
)

var gitLong = set(`--message --branch --author --date --upload-pack --receive-pack --exec --extcmd --config --tree-filter
	--index-filter --msg-filter --env-filter --commit-filter --parent-filter`)

// GitArgs are the words behind a verb of git's, if a program is git and does that.
func GitArgs(r *Run, verb string) ([]Word, bool) {
	if r.Name != "git" {
		return nil, false
	}
	args := r.Args
	for len(args) > 1 && strings.HasPrefix(args[0].Text, "-") {
		if gitApart[args[0].Text] {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 || args[0].Text != verb {
		return nil, false
	}
	return args[1:], true
}

// gitApart are options before the verb whose value is the next word.
var gitApart = set("-c -C --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source")

// git reads git.
func (c *call) git() {
	args := c.gitGlobals()
	if len(args) == 0 {
		return
	}
	sub, values := args[0].Text, "mbCcFSutn"
	if sub == "rebase" || sub == "difftool" {
		values += "x"
	}
	flags, rest := options(args[1:], values, gitLong)
	all, firsts := operands(args[1:], gitValued[sub])
	c.gitRuns(sub, flags, rest)
	switch sub {
	case "push", "send-pack", "http-push":
		c.does |= NetworkWrite
		c.quiet = true
		c.aside = c.elsewhere()
		c.remotes(all)
	case "clone", "fetch", "pull", "ls-remote":
		c.quiet = sub != "ls-remote"
		c.gitFetch(sub, all, firsts)
	case "submodule", "remote":
		c.quiet = true
		c.gitOthers(sub, all)
	case "send-email":
		c.does |= Mail | NetworkWrite
	case "archive":
		for _, r := range flags["--remote"] {
			c.does |= NetworkRead
			c.address(r)
		}
	case "log", "show", "diff", "cat-file", "blame", "grep":
		c.out.fetched = c.out.fetched || c.synced
		if sub == "show" && len(args) == len(c.args) {
			c.passes(args[1:])
		}
	default:
		c.gitLocal(sub, flags, rest, all)
	}
}

// gitValued are the options behind git's verbs whose value is the next word, by the verb. What stands behind another may be its value or
// an operand, so that nothing hides as a value.
var gitValued = map[string]map[string]bool{
	"clone": set(`-b --branch --depth -j --jobs -o --origin -u --upload-pack -c --config --template --reference --filter --shallow-since
		--separate-git-dir`),
	"fetch": set("-j --jobs --depth --deepen -o --server-option --upload-pack --refmap --shallow-since --filter"),
	"pull": set(`-j --jobs --depth --deepen -o --server-option --upload-pack --refmap --shallow-since -s --strategy -X
		--strategy-option`),
	"remote":    set("-t -m"),
	"submodule": set("-b --branch --name --reference --depth -j --jobs"),
	"clean":     set("-e --exclude -fe -fde -fdxe -xe -xfe"),
}

// gitGlobals reads what stands before git's subcommand, and gives back the rest.
func (c *call) gitGlobals() []Word {
	args := c.args
	for len(args) > 1 && strings.HasPrefix(args[0].Text, "-") {
		switch t := args[0].Text; {
		case t == "-c":
			c.gitSetting(args[1].Text)
			args = args[2:]
		case gitApart[t]:
			args = args[2:]
		default:
			if v, ok := strings.CutPrefix(t, "-c"); ok {
				c.gitSetting(v)
			}
			args = args[1:]
		}
	}
	return args
}

// elsewhere is what makes git work on another repository than that of the work, or with settings that the line brings; empty: nothing does.
func (c *call) elsewhere() string {
	folders := c.everywhere(".")
	for i := 0; i < len(c.args) && strings.HasPrefix(c.args[i].Text, "-"); i++ {
		switch t := c.args[i].Text; {
		case t == "-C" && i+1 < len(c.args):
			i++
			folders = append(folders, c.at(c.args[i].Text))
		case t != "-P" && t != "--no-pager":
			return t
		}
	}
	for _, f := range folders {
		if strings.HasPrefix(f, "/tmp/") && !c.reader.holds(f) || strings.Contains(f, "$") || c.reader.Elsewhere(f) || c.isFetched(f) {
			return f
		}
	}
	return ""
}

// gitRuns reads the commands that git is told to run.
func (c *call) gitRuns(sub string, flags map[string][]string, rest []Word) {
	for _, f := range slices.Sorted(maps.Keys(flags)) {
		for _, v := range flags[f] {
			switch {
			case v != "" && gitRunsBy(sub, f):
				c.script(v, flow{})
				if strings.HasSuffix(f, "-pack") && !strings.Contains(v, "git-") {
					c.unread() // in place of git's own program, and nobody knows what it is
				}
			case sub == "clone" && (f == "-c" || f == "--config"):
				c.gitSetting(v)
			}
		}
	}
	for _, a := range c.args {
		if _, v, ok := strings.Cut(a.Text, "ext::"); ok {
			c.script(v, flow{})
		}
		if v, ok := strings.CutPrefix(a.Text, "-O"); ok && sub == "grep" && v != "" {
			c.script(v, flow{})
		}
	}
	if len(rest) > 1 {
		c.gitEach(sub, rest)
	}
}

// gitRunning are the flags whose value git runs, whatever it is asked to do.
var gitRunning = set("--upload-pack --receive-pack --exec --extcmd --open-files-in-pager")

func gitRunsBy(sub, flag string) bool {
	switch {
	case gitRunning[flag]:
		return true
	case strings.HasSuffix(flag, "-filter"):
		return sub == "filter-branch"
	}
	return flag == "-x" && (sub == "rebase" || sub == "difftool")
}

// gitEach reads the command that git runs for each module, or for each step of a search.
func (c *call) gitEach(sub string, rest []Word) {
	switch {
	case sub == "submodule" && rest[0].Text == "foreach":
		if words := rest[1:]; slices.ContainsFunc(words, func(a Word) bool { return !a.Known }) {
			c.unread()
		} else {
			c.script(strings.Join(texts(words), " "), flow{})
		}
	case sub == "bisect" && rest[0].Text == "run":
		if i := slices.IndexFunc(c.args, func(a Word) bool { return a.Text == "run" }); i >= 0 {
			c.inner(c.args[i+1:], false)
		}
	}
}

// gitLocal reads what git does here.
func (c *call) gitLocal(sub string, flags map[string][]string, rest, all []Word) {
	switch sub {
	case "clean":
		if flags["-f"] != nil || begun(flags, "--force") {
			c.does |= Destructive | FileWrite
			if (flags["-x"] != nil || flags["-X"] != nil) && len(all) == 0 {
				c.does |= Wrecks
			}
		}
	case "reset", "checkout", "restore", "stash":
		c.gitUndo(sub, flags, all)
	case "config":
		if len(rest) > 1 {
			c.gitSetting(rest[len(rest)-2].Text + "=" + rest[len(rest)-1].Text)
			if c.does.Has(Persist) || flags["--global"] != nil {
				c.does |= FileWrite
			}
		}
	case "filter-branch", "filter-repo":
		c.does |= Destructive | FileWrite
	case "apply", "am":
		c.does |= FileWrite
		c.patches(all)
	case "mv", "worktree":
		c.does |= FileWrite
		c.gitTouches(all)
	case "add", "commit", "merge", "rebase", "cherry-pick", "rm", "init", "revert", "tag", "branch":
		c.does |= FileWrite
	}
}

// gitTouches notes the files that git puts something else into.
func (c *call) gitTouches(rest []Word) {
	for _, a := range rest {
		c.mayWrite(a.Text)
	}
}

// patched notes that the work was changed by what came from elsewhere.
func (c *call) patched() {
	if c.in.fetched || slices.ContainsFunc(c.args, func(a Word) bool { return c.isFetched(a.Text) || a.flow.fetched }) {
		c.inside, c.line.Spills = true, true
	}
}

func (c *call) gitUndo(sub string, flags map[string][]string, rest []Word) {
	words := texts(rest)
	c.does |= FileWrite
	if sub != "reset" {
		c.gitTouches(rest)
	}
	switch {
	case sub == "reset" && begun(flags, "--hard"), sub == "stash" && (slices.Contains(words, "drop") || slices.Contains(words, "clear")),
		sub == "checkout" && (slices.Contains(words, ".") || (flags["-f"] != nil || begun(flags, "--force"))),
		sub == "restore" && flags["--staged"] == nil:
		c.does |= Destructive
	}
}

// gitOthers reads what names the work of others.
func (c *call) gitOthers(sub string, rest []Word) {
	for _, a := range rest {
		if a.Text == "update" || a.Text == "show" || a.Text == "add" && sub == "submodule" {
			c.does |= NetworkRead
		}
	}
	if len(rest) < 2 || rest[0].Text != "add" && rest[0].Text != "set-url" {
		return
	}
	c.remotes(rest[1:])
	if sub == "remote" {
		for _, a := range rest[1:] {
			c.bring(knownRemotes + a.Text)
		}
		if fetches := func(a Word) bool { return a.Text == "-f" || Begins(a.Text, "--fetch") }; slices.ContainsFunc(c.args, fetches) {
			c.does |= NetworkRead
			c.strangers(texts(rest[1:]))
		}
	} else if rest[0].Text == "add" {
		c.bring(strings.TrimSuffix(rest[len(rest)-1].Text, ".git"))
	}
}

// begun reports whether one of the flags is another by its beginning.
func begun(flags map[string][]string, name string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(flags)), func(f string) bool { return Begins(f, name) })
}

// gitFetch reads what brings in the work of others. Firsts are the words that may say whose it is.
func (c *call) gitFetch(sub string, all, firsts []Word) {
	c.does |= NetworkRead
	c.synced = true
	c.remotes(all)
	if (sub == "fetch" || sub == "pull") && c.ofStrangers(all, firsts) {
		c.strangers(texts(all[1:]))
	}
	if sub == "clone" && len(all) > 0 {
		c.does |= FileWrite
		c.bring(strings.TrimSuffix(all[len(all)-1].Text, ".git"))
	}
}

// knownRemotes is where git keeps what it has of other repositories.
const knownRemotes = ".git/refs/remotes/"

// ofStrangers reports whether the words after fetch or pull name work that is not of this repository and those it was
// set up with: an address, a remote that was added on the way, a folder from elsewhere, what anybody may propose.
func (c *call) ofStrangers(all, firsts []Word) bool {
	strange := func(from Word) bool {
		return !from.Known || strings.Contains(from.Text, ":") || c.isFetched(from.Text) || c.isFetched(knownRemotes+from.Text)
	}
	return slices.ContainsFunc(firsts, strange) || slices.ContainsFunc(all, func(a Word) bool {
		ref := strings.TrimPrefix(strings.TrimPrefix(a.Text, "+"), "refs/")
		return strings.HasPrefix(ref, "pull/") || strings.HasPrefix(ref, "merge-requests/")
	})
}

// strangers notes that the work of others is put here, or made ready for it: what is built from now on may be theirs.
// Words are what names it.
func (c *call) strangers(words []string) {
	c.line.Spills = true
	for _, w := range words {
		for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return strings.ContainsRune("/:+#", r) }) {
			if part[0] != '-' && part != "head" && part != "merge" && part != "pull" {
				note(&c.line.Whose, part)
			}
		}
	}
}

// remotes notes the addresses among words.
func (c *call) remotes(rest []Word) {
	for _, a := range rest {
		if strings.Contains(a.Text, "://") || strings.Contains(a.Text, "@") && strings.Contains(a.Text, ":") {
			c.address(a.Text)
		}
	}
}

// gitPrograms are settings that name a program git will run, or where it finds some.
var gitPrograms = set(`core.hookspath core.sshcommand core.fsmonitor credential.helper diff.external core.gitproxy
	core.askpass init.templatedir gpg.program include.path core.attributesfile`)

var (
	gitSwitches     = set("true false 0 1")
	gitEditors      = set("core.pager core.editor sequence.editor")
	ordinaryEditors = []string{"cat", "less", "vi"}
)

// gitSetting reads key=value: some keys are programs that git will run.
func (c *call) gitSetting(kv string) {
	key, value, _ := strings.Cut(kv, "=")
	key = strings.ToLower(key)
	low := strings.ToLower(value)
	switch {
	case value == "" || gitSwitches[low]:
	case key == "credential.helper" && !strings.ContainsAny(value, " /!;|&$"):
	case gitPrograms[key]:
		c.does |= Persist | c.started(strings.TrimPrefix(value, "!"))
	case gitEditors[key]:
		if !mentions(low, ordinaryEditors) && strings.ContainsAny(value, " /;|&") {
			c.does |= Persist | c.started(value)
		}
	case strings.HasPrefix(key, "alias.") && value[0] == '!':
		c.does |= Persist | c.started(value[1:])
	case strings.HasPrefix(key, "filter.") || strings.HasPrefix(key, "url."),
		strings.HasSuffix(key, ".textconv") || strings.HasSuffix(key, "tool.cmd"):
		c.does |= Persist
	}
}
