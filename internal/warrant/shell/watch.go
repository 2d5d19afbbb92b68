package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// onlyLooking are verbs of our own program that change nothing, whatever follows. Those from graph on are old names.
var onlyLooking = set("status doctor sessions version help demo graph explain check replay")

// lookingBelow are words below a verb that change nothing, whatever follows.
var lookingBelow = map[string]map[string]bool{
	"log":    set("graph verify"),
	"policy": set("check explain replay"),
	"audit":  set("verify"),
}

// listing are words that list where nothing follows; with something they may answer, or take for good.
var listing = set("labels writes log audit approvals")

// agents are programs that run an agent. With what they are told nothing here watches it.
var agents = set("claude codex gemini opencode openclaw cursor-agent droid qwen auggie kiro-cli")

// prompted are agents by whose name other programs go too, and what makes them one.
var prompted = map[string]map[string]bool{
	"copilot": set("-p --prompt -i --interactive --allow-all-tools --yolo"),
	"goose":   set("run session configure"),
	"aider":   set("--message -m --message-file --yes --yes-always"),
	"amp":     set("-x --execute"),
	"crush":   set("run"),
}

// agentPackages are the packages agents come in.
var agentPackages = []string{"claude-code", "openai/codex", "gemini-cli", "opencode-ai", "openclaw", "github/copilot"}

// watching reads our own program and programs that run agents; false if it is neither.
func (c *call) watching() bool {
	switch {
	case c.name == "tidemark" || c.name == "tidemark.exe":
		if !c.asksTidemark() {
			c.does |= Oversight
		}
	case c.name == "tidemark-hook":
		if len(c.args) != 1 || !info[c.args[0].Text] {
			c.does |= Oversight // whoever speaks to it speaks as the host
		}
	case agents[c.name]:
		if !c.asksAgent() {
			c.does |= Oversight | NetworkRead | NetworkWrite
		}
	case prompted[c.name] != nil:
		if slices.ContainsFunc(c.args, func(a Word) bool { return !a.Known || prompted[c.name][a.Text] }) {
			c.does |= Oversight | NetworkRead | NetworkWrite
		}
	default:
		return false
	}
	return true
}

var info = set("--version -v -V --help -h version help")

// asksTidemark reports whether our own program is only asked something.
func (c *call) asksTidemark() bool {
	rest, ok := tidemarkVerb(c.args)
	if !ok {
		return false
	}
	if len(rest) == 0 {
		return true
	}
	verb, below := rest[0], rest[1:]
	switch {
	case !verb.Known:
		return false
	case len(below) == 0:
		return onlyLooking[verb.Text] || listing[verb.Text] || verb.Text == "report"
	case verb.Text == "report": // of the rules; what plugins wrote down is below it
		return !slices.ContainsFunc(below, func(a Word) bool { return !a.Known || a.Text == "plugins" })
	case verb.Text == "approvals" && below[0].Known: // to watch is to answer, and a person's
		return below[0].Text == "list" || len(below) == 1 && below[0].Text == "writes"
	case verb.Text == "trust" && below[0].Known:
		return len(below) == 1 && below[0].Text == "labels"
	case below[0].Known && lookingBelow[verb.Text][below[0].Text]:
		return true
	}
	return onlyLooking[verb.Text]
}

// tidemarkVerb are the words from the verb on, without the flags before it.
func tidemarkVerb(rest []Word) ([]Word, bool) {
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
		switch t := rest[0].Text; {
		case t == "--json" || info[t] || strings.HasPrefix(t, "--data=") || strings.HasPrefix(t, "--config="):
			rest = rest[1:]
		case (t == "--data" || t == "--config") && len(rest) > 1:
			rest = rest[2:]
		default:
			return nil, false // another may take the next word for its value, and hide the verb
		}
	}
	return rest, true
}

// asksAgent reports whether an agent's program is only asked about itself.
func (c *call) asksAgent() bool {
	if len(c.args) == 0 || c.in.given {
		return false
	}
	first, second := c.args[0], ""
	if len(c.args) > 1 {
		second = c.args[1].Text
	}
	if info[first.Text] || first.Text == "doctor" || first.Text == "status" || first.Text == "models" {
		return len(c.args) == 1
	}
	if !first.Known || strings.HasPrefix(first.Text, "-") || len(c.args) != 2 {
		return false
	}
	return second == "list" || second == "ls" || second == "get" || info[second]
}

// lookers only look at the files they name, or handle what they write themselves.
var lookers = set(`cat tac nl head tail less more bat strings od hexdump grep egrep fgrep rg ag cut uniq tr jq diff cmp file
	wc ls ll stat test [ echo printf cd pushd find fd cp readlink realpath basename dirname md5sum sha1sum sha256sum du tree
	xxd base64 which type export true false : set sed gsed perl source . curl wget tar zip rsync scp`)

var gitLooks = set("add commit diff log show status blame ls-files check-ignore grep rev-parse annotate shortlog push fetch")

// handles looks for files that watch the agent among the words of a program that may write
// them. Most programs are not known, and none of them has business there.
func (c *call) handles() {
	_, wraps := wrappers[c.name]
	_, carries := carriers[c.name]
	if lookers[c.name] || wraps || carries || shells[c.name] || c.name == "git" && len(c.args) > 0 && gitLooks[c.args[0].Text] {
		return
	}
	if slices.ContainsFunc(c.args, func(a Word) bool { return a.Text == "json.tool" }) {
		return
	}
	for _, a := range c.args {
		t := a.Text
		if _, v, ok := strings.Cut(t, "="); ok {
			t = v
		}
		if t != "" && !strings.ContainsAny(t, " \n\t:{(") && Overseen(c.at(t)) {
			c.does |= Persist | Oversight
		}
	}
}

// watches reports whether a word is a file or folder that watches the agent.
func (w *walker) watches(text string) bool {
	return text != "" && text[0] != '-' && !strings.ContainsAny(text, " \n\t") && (Overseen(w.at(text)) || overseenFolder(w.at(text)))
}

// fedWatched is a program that is handed the names of such files.
func (c *call) fedWatched(words []Word, fed bool) {
	if !fed || len(words) == 0 {
		return
	}
	name, _ := programName(words[0])
	if _, in := inPlace(name, words[1:]); lookers[name] && !in {
		return
	}
	c.does |= Persist | Oversight
}

var (
	enders  = set("kill pkill killall skill xkill")
	finders = set("pgrep pidof grep egrep rg ps lsof fuser ss netstat awk kill pkill killall skill xkill")
	keepers = set("systemctl launchctl service brew docker podman supervisorctl pm2 sc rc-service initctl")
	ending  = set("stop disable kill mask unload bootout remove rm restart uninstall pause down delete")
)

// endsWatch reports whether programs together end the one that watches.
func (r *Reader) endsWatch(l *Line) bool {
	ends, ours := false, false
	for i := range l.Runs {
		run := &l.Runs[i]
		ends = ends || enders[run.Name]
		if !finders[run.Name] && !keepers[run.Name] {
			continue // most programs, and a line may have many that are given many words
		}
		named := slices.ContainsFunc(run.Args, func(a Word) bool { return r.meansUs(a.Text) })
		ours = ours || named && finders[run.Name]
		if named && keepers[run.Name] && slices.ContainsFunc(run.Args, func(a Word) bool { return ending[a.Text] }) {
			return true
		}
	}
	return ends && ours
}

// opens reports whether a program of the line is handed names that are not known, and does
// more with them than to say them.
func (l *Line) opens() bool {
	for i := range l.Runs {
		r := &l.Runs[i]
		for _, a := range r.Args {
			switch {
			case r.Name == "find" && a.Text == "-delete", strings.HasPrefix(r.Name, "fd") && (a.Text == "-x" || a.Text == "-X"):
				return true
			case !namers[r.Name] && (!a.Known && strings.Contains(a.Text, "$") || a.Text == "{}"):
				return true
			}
		}
		if (r.Name == "xargs" || r.Name == "parallel") && (len(r.Args) == 0 || !namers[r.Args[len(r.Args)-1].Text]) {
			return true
		}
	}
	return false
}

// ourName is what the station is called among processes, and ourLine how it was started.
const (
	ourName = "tidemark"
	ourLine = "tidemark serve"
)

// endsUs reports whether a program ends the station by its number, its name or its port, or
// ends everything.
func (c *call) endsUs() bool {
	words := texts(c.args)
	switch c.name {
	case "kill", "skill":
		for i, t := range words {
			if i > 0 && t == "-1" || t != "" && t == c.reader.station.PID {
				return true
			}
		}
		return slices.ContainsFunc(c.args, func(a Word) bool { return a.flow.ours })
	case "fuser":
		flags, _ := options(c.args, "", nil)
		return anyFlag(flags, "-k", "--kill", "-K") && slices.ContainsFunc(words, c.reader.names)
	case "pkill", "killall":
		return c.endsByName()
	}
	return false
}

// endsByName reads pkill and killall: what they look for may be us.
func (c *call) endsByName() bool {
	flags, rest := options(c.args, "uUtPgGsT", set("--signal --euid --uid --terminal --parent --user"))
	if len(rest) == 0 {
		return anyFlag(flags, "-u", "-U", "--euid", "--uid", "--user")
	}
	for _, a := range rest {
		switch {
		case !a.Known:
			continue
		case strings.Contains(strings.ToLower(a.Text), ourName):
			return true
		case c.name == "killall" && !anyFlag(flags, "-r", "--regexp"):
			continue
		}
		line := ourName
		if anyFlag(flags, "-f", "--full") {
			line = ourLine
		}
		if re, err := regexp.Compile("(?i)" + a.Text); err == nil && re.MatchString(line) {
			return true
		}
	}
	return false
}

// meansUs reports whether a word is our name, our port, or a pattern for one of them.
func (r *Reader) meansUs(text string) bool {
	low := strings.ToLower(text)
	if strings.Contains(low, ourName) || r.names(low) && !busyPorts[r.port()] {
		return true
	}
	if len(strings.Trim(low, "*?.[]")) < 2 || !strings.ContainsAny(low, "*?[") {
		return false
	}
	for _, n := range []string{ourName, ourName + ".service"} {
		if ok, err := path.Match(low, n); ok && err == nil {
			return true
		}
	}
	return false
}
