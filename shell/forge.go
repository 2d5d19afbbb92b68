package shell

import (
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
	args := c.args
	for len(args) > 1 && strings.HasPrefix(args[0].Text, "-") {
		switch args[0].Text {
		case "-c":
			c.gitSetting(args[1].Text)
			args = args[2:]
		case "-C", "--git-dir", "--work-tree", "--namespace":
			args = args[2:]
		default:
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return
	}
	flags, rest := options(args[1:], "mbCcFSutn", set("--message --branch --author --date --upload-pack --receive-pack --exec"))
	for _, f := range []string{"--upload-pack", "--receive-pack", "--exec"} {
		for _, v := range flags[f] {
			c.script(v, flow{})
		}
	}
	switch args[0].Text {
	case "push":
		c.does |= NetworkWrite
		c.remotes(rest)
	case "clone", "fetch", "pull", "ls-remote", "submodule", "remote":
		c.gitFetch(args[0].Text, rest)
	case "send-email":
		c.does |= Mail | NetworkWrite
	case "clean":
		if flags["-f"] != nil || flags["--force"] != nil {
			c.does |= Destructive | FileWrite
			if flags["-d"] != nil || flags["-x"] != nil {
				c.does |= Wrecks
			}
		}
	case "reset", "checkout", "restore", "stash":
		c.gitUndo(args[0].Text, flags, rest)
	case "config":
		if len(rest) > 1 {
			c.gitSetting(rest[len(rest)-2].Text + "=" + rest[len(rest)-1].Text)
			if c.does.Has(Persist) || flags["--global"] != nil {
				c.does |= FileWrite
			}
		}
	case "filter-branch", "filter-repo":
		c.does |= Destructive | FileWrite
	case "add", "commit", "merge", "rebase", "apply", "am", "cherry-pick", "mv", "rm", "init", "revert", "tag", "branch":
		c.does |= FileWrite
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

// gitSetting reads key=value: some keys are programs that git will run.
func (c *call) gitSetting(kv string) {
	key, value, _ := strings.Cut(strings.ToLower(kv), "=")
	switch key {
	case "core.hookspath", "core.sshcommand", "core.fsmonitor", "credential.helper", "diff.external", "core.gitproxy", "init.templatedir":
		c.does |= Persist
	case "core.pager", "core.editor", "sequence.editor":
		if !strings.Contains(value, "cat") && !strings.Contains(value, "true") && !strings.Contains(value, "less") && !strings.Contains(value, "vi") && strings.ContainsAny(value, " /;|&") {
			c.does |= Persist
		}
	default:
		if strings.HasPrefix(key, "alias.") && strings.HasPrefix(value, "!") || strings.HasPrefix(key, "filter.") || strings.HasPrefix(key, "url.") {
			c.does |= Persist
		}
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
