package shell

import (
	"maps"
	"slices"
	"strings"
)

// verbs are what subcommands of services mostly say when they only look.
var looking = set("get list ls show view status describe diff checks log logs history info inspect search version help whoami top explain cat head check plan validate output " +
	"api-resources config auth")

// removing are what they say when they take away.
var removing = set("delete rm remove destroy terminate rb purge drop uninstall prune")

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
	flags, rest := options(args[1:], values, set("--message --branch --author --date --upload-pack --receive-pack --exec --extcmd --config --tree-filter --index-filter --msg-filter --env-filter --commit-filter --parent-filter"))
	c.gitRuns(sub, flags, rest)
	switch sub {
	case "push":
		c.does |= NetworkWrite
		c.quiet = true
		c.remotes(rest)
	case "clone", "fetch", "pull", "ls-remote", "submodule", "remote":
		c.quiet = sub != "ls-remote"
		c.gitFetch(sub, rest)
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
		c.gitLocal(sub, flags, rest)
	}
}

// gitGlobals reads what stands before git's subcommand, and gives back the rest.
func (c *call) gitGlobals() []Word {
	args := c.args
	for len(args) > 1 && strings.HasPrefix(args[0].Text, "-") {
		switch t := args[0].Text; {
		case t == "-c":
			c.gitSetting(args[1].Text)
			args = args[2:]
		case t == "-C" || t == "--git-dir" || t == "--work-tree" || t == "--namespace":
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

// gitRuns reads the commands that git is told to run.
func (c *call) gitRuns(sub string, flags map[string][]string, rest []Word) {
	for _, f := range slices.Sorted(maps.Keys(flags)) {
		run := f == "--upload-pack" || f == "--receive-pack" || f == "--exec" || f == "--extcmd" || strings.HasSuffix(f, "-filter") && sub == "filter-branch" ||
			f == "-x" && (sub == "rebase" || sub == "difftool") || f == "--open-files-in-pager"
		for _, v := range flags[f] {
			switch {
			case run && v != "":
				c.script(v, flow{})
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
	switch {
	case len(rest) < 2:
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
func (c *call) gitLocal(sub string, flags map[string][]string, rest []Word) {
	switch sub {
	case "clean":
		if flags["-f"] != nil || flags["--force"] != nil {
			c.does |= Destructive | FileWrite
			if (flags["-x"] != nil || flags["-X"] != nil) && len(rest) == 0 {
				c.does |= Wrecks
			}
		}
	case "reset", "checkout", "restore", "stash":
		c.gitUndo(sub, flags, rest)
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
		c.patched()
	case "add", "commit", "merge", "rebase", "cherry-pick", "mv", "rm", "init", "revert", "tag", "branch":
		c.does |= FileWrite
	}
}

// patched notes that the work was changed by what came from elsewhere.
func (c *call) patched() {
	if c.in.fetched || slices.ContainsFunc(c.args, func(a Word) bool { return c.isFetched(a.Text) || a.flow.fetched }) {
		c.inside = true
	}
}

func (c *call) gitUndo(sub string, flags map[string][]string, rest []Word) {
	words := texts(rest)
	c.does |= FileWrite
	switch {
	case sub == "reset" && flags["--hard"] != nil, sub == "stash" && (slices.Contains(words, "drop") || slices.Contains(words, "clear")),
		sub == "checkout" && (slices.Contains(words, ".") || flags["-f"] != nil), sub == "restore" && flags["--staged"] == nil:
		c.does |= Destructive
	}
}

// gitFetch reads what brings in the work of others.
func (c *call) gitFetch(sub string, rest []Word) {
	if sub == "remote" || sub == "submodule" {
		for _, a := range rest {
			if a.Text == "update" || a.Text == "show" || a.Text == "add" && sub == "submodule" {
				c.does |= NetworkRead
			}
		}
		if len(rest) > 1 && (rest[0].Text == "add" || rest[0].Text == "set-url") {
			c.remotes(rest[2:])
		}
		return
	}
	c.does |= NetworkRead
	c.synced = true
	c.remotes(rest)
	if sub == "clone" && len(rest) > 0 {
		c.does |= FileWrite
		c.bring(strings.TrimSuffix(rest[len(rest)-1].Text, ".git"))
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
var gitPrograms = set("core.hookspath core.sshcommand core.fsmonitor credential.helper diff.external core.gitproxy core.askpass init.templatedir gpg.program include.path core.attributesfile")

// gitSetting reads key=value: some keys are programs that git will run.
func (c *call) gitSetting(kv string) {
	key, value, _ := strings.Cut(kv, "=")
	key = strings.ToLower(key)
	switch low := strings.ToLower(value); {
	case value == "" || low == "true" || low == "false" || value == "0" || value == "1":
	case key == "credential.helper" && !strings.ContainsAny(value, " /!;|&$"):
	case gitPrograms[key]:
		c.does |= Persist | c.started(strings.TrimPrefix(value, "!"))
	case key == "core.pager" || key == "core.editor" || key == "sequence.editor":
		if !strings.Contains(low, "cat") && !strings.Contains(low, "less") && !strings.Contains(low, "vi") && strings.ContainsAny(value, " /;|&") {
			c.does |= Persist | c.started(value)
		}
	case strings.HasPrefix(key, "alias.") && value[0] == '!':
		c.does |= Persist | c.started(value[1:])
	case strings.HasPrefix(key, "filter.") || strings.HasPrefix(key, "url.") || strings.HasSuffix(key, ".textconv") || strings.HasSuffix(key, "tool.cmd"):
		c.does |= Persist
	}
}

// service reads clients of a service that look or act by a verb: gh, aws, kubectl, az.
func (c *call) service() {
	flags, rest := options(c.args, "nRXfFHotpqjbl", set("--region --profile --namespace --output --query --method --field --raw-field --input --title --body --repo --context --kubeconfig --project --json --jq --label"))
	c.does |= NetworkRead
	words := texts(rest)
	look := false
	for _, v := range words[:min(len(words), 3)] {
		first, _, _ := strings.Cut(v, "-")
		look = look || looking[v] || looking[first]
		if removing[v] || removing[first] {
			c.does |= Destructive | NetworkWrite
		}
		if first == "get" && strings.Contains(v, "secret") || v == "secretsmanager" || v == "secret" || v == "get-parameter" || v == "get-login-password" || v == "print-access-token" || v == "token" {
			c.does |= ReadsSecret
		}
	}
	sends := flags["-X"] != nil || flags["--method"] != nil || flags["-f"] != nil || flags["-F"] != nil || flags["--field"] != nil || flags["--input"] != nil
	api := len(words) > 0 && words[0] == "api"
	if len(words) > 0 && (!look && !api || api && sends && !slices.Contains(flags["-X"], "GET") && !slices.Contains(flags["--method"], "GET")) {
		c.does |= NetworkWrite
	}
	for _, w := range rest {
		if strings.Contains(w.Text, "://") {
			c.address(w.Text)
		}
	}
	if len(words) > 2 && (words[0] == "alias" || words[0] == "config") && words[1] == "set" && strings.ContainsAny(words[len(words)-1], " !/") {
		c.does |= Persist | c.started(strings.TrimPrefix(words[len(words)-1], "!"))
	}
	if len(words) > 1 && (words[0] == "extension" || words[0] == "plugin") && words[1] == "install" {
		c.does |= Install
	}
}

// cluster reads kubectl.
func (c *call) cluster() {
	c.service()
	i := slices.IndexFunc(c.args, func(a Word) bool { return a.Text == "--" })
	if slices.ContainsFunc(c.args, func(a Word) bool { return a.Text == "exec" }) && i >= 0 {
		c.inner(c.args[i+1:], false)
	}
}

// infrastructure reads terraform, helm and others with one verb.
func (c *call) infrastructure() {
	_, rest := options(c.args, "nf", nil)
	if len(rest) == 0 {
		return
	}
	switch v := rest[0].Text; {
	case removing[v]:
		c.does |= NetworkWrite | NetworkRead | Destructive
	case v == "apply" || v == "up" || v == "install" || v == "upgrade" || v == "deploy" || v == "push" || v == "publish" || v == "import":
		c.does |= NetworkWrite | NetworkRead
	case v == "init" || v == "plan" || v == "pull" || v == "refresh":
		c.does |= NetworkRead
	}
}
