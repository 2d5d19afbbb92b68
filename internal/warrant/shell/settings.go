package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Variables by which a program is told to run something.
var (
	// whose value is a command
	commandSettings = set(`GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_PAGER PAGER EDITOR GIT_EDITOR GIT_SEQUENCE_EDITOR
		VISUAL PROMPT_COMMAND RSYNC_RSH GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS BROWSER MANPAGER BAT_PAGER
		SYSTEMD_PAGER PSQL_PAGER PSQL_EDITOR FCEDIT KUBE_EDITOR KUBECTL_EXTERNAL_DIFF CVS_RSH RUSTC_WRAPPER RUSTC CC CXX
		SHELL GH_PAGER GH_EDITOR GH_BROWSER AWS_PAGER`)
	// whose value is a library or file that is run by whatever starts
	preloaded = set("LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV PYTHONSTARTUP PERL5DB")
	// whose value is options for a language
	optionSettings = set("NODE_OPTIONS PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS MAKEFLAGS TAR_OPTIONS")
	// whose value says where programs and libraries are found
	searched = set("PATH path LD_LIBRARY_PATH DYLD_LIBRARY_PATH GIT_EXEC_PATH GIT_TEMPLATE_DIR FPATH fpath")
	// whose value a shell expands before it shows it
	prompts = set("PS0 PS1 PS2 PS4 LESSOPEN LESSCLOSE")
	// which are the shell's own tables of what names mean
	shellTables = set("BASH_ALIASES BASH_CMDS")
	zshTables   = set("aliases galiases saliases functions commands dis_functions")
)

// risky reports whether a variable decides what runs.
func risky(name string) bool {
	return commandSettings[name] || preloaded[name] || optionSettings[name] || searched[name] || prompts[name] ||
		shellTables[name] || name == "GOFLAGS" || strings.HasPrefix(name, "BASH_FUNC_") || strings.HasPrefix(name, "GIT_CONFIG_")
}

// indexRuns is an index in which a shell runs a command when it counts.
var indexRuns = regexp.MustCompile("\\w\\[[^\\]]*(\\$\\(|`)")

// indexed reports whether an assignment sets what a table holds under a name.
func indexed(a *syntax.Assign) bool {
	return a.Index != nil || a.Array != nil && len(a.Array.Elems) > 0 && a.Array.Elems[0].Index != nil
}

// assign reads one assignment.
func (w *walker) assign(a *syntax.Assign) {
	defer func() { w.line.Unsure = true }()
	name := ""
	if a.Name != nil {
		name = a.Name.Value
	}
	if shellTables[name] || zshTables[name] && indexed(a) {
		w.unread()
		return
	}
	if a.Index != nil {
		w.nested(a.Index)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				w.nested(e.Index)
			}
			for _, v := range w.words(e.Value) {
				w.setting(name, v)
			}
		}
	}
	if a.Value == nil {
		return
	}
	w.setNow = name
	v := w.word(a.Value)
	w.setNow = ""
	if left, right, ok := strings.Cut(v.Text, "="); a.Naked && ok {
		name, v.Text = left, right // export "NAME=value"
	}
	if searched[name] && w.ofPrograms(a.Value) {
		v.flow.made = false
	}
	if !a.Append || !searched[name] {
		w.setting(name, v)
	}
}

// declared reads export, declare and their kin.
func (w *walker) declared(c *syntax.DeclClause) {
	w.prints(c)
	for _, a := range c.Args {
		if a.Name != nil {
			w.sets(a.Name.Value)
		}
		w.assign(a)
		if a.Naked && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") && strings.Contains(a.Value.Lit(), "n") {
			for _, b := range c.Args {
				if b.Value != nil && risky(b.Value.Lit()) {
					w.unread() // another name for it
				}
			}
		}
	}
}

// plainSettings are variables that say nothing of where programs send things, or of what.
var plainSettings = set(`GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_TERMINAL_PROMPT GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE
	GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE GIT_MERGE_AUTOEDIT GIT_OPTIONAL_LOCKS PAGER GH_PAGER EDITOR VISUAL
	CI NODE_ENV LANG LANGUAGE LC_ALL LC_CTYPE TZ TERM COLUMNS NO_COLOR FORCE_COLOR CLICOLOR DEBUG VERBOSE CGO_ENABLED GOOS GOARCH
	RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE DOCKER_BUILDKIT HUSKY`)

// sets notes a variable that programs are given.
func (w *walker) sets(name string) {
	if !plainSettings[name] && w.passed == "" {
		w.passed = name
	}
}

// prints notes a declaration that sets nothing as a program that is run: it puts out what is set.
func (w *walker) prints(c *syntax.DeclClause) {
	r := Run{Name: c.Variant.Value, Path: c.Variant.Value}
	for _, a := range c.Args {
		if a.Name != nil || a.Value == nil || a.Value.Lit() == "" {
			return
		}
		r.Args = append(r.Args, Word{Text: a.Value.Lit(), Known: true})
	}
	if len(w.line.Runs) < maxRuns {
		w.line.Runs = append(w.line.Runs, r)
	}
}

// setting looks at what a variable is set to: some tell a program to run something.
func (w *walker) setting(name string, v Word) {
	w.loosely(v.Text)
	if strings.HasPrefix(name, "GIT_") || name == "HOME" || name == "XDG_CONFIG_HOME" {
		w.sets(name) // it is one of the environment, or git's
	}
	if w.settingGiven(v.Text) {
		w.line.Effects |= RunsFetched
	}
	if indexRuns.MatchString(v.Text) && v.Known {
		w.unread()
	}
	switch {
	case v.Text == "":
	case commandSettings[name]:
		w.settingRuns(v)
	case preloaded[name]:
		w.settingLoads(name, v)
	case optionSettings[name]:
		w.settingOptions(v)
	case searched[name]:
		w.settingFinds(v)
	case prompts[name]:
		if strings.ContainsAny(v.Text, "`|") || strings.Contains(v.Text, "$(") {
			w.unread()
		}
	case strings.HasPrefix(name, "BASH_FUNC_"):
		w.unread()
	case strings.HasPrefix(name, "GIT_CONFIG_"):
		w.line.Effects |= w.started(strings.TrimLeft(v.Text, "!'\""))
	case name == "GOFLAGS":
		if i := strings.Index(v.Text, "exec="); i >= 0 {
			w.script(v.Text[i+len("exec="):], flow{})
		}
	case proxies[name]:
		if strings.Contains(v.Text, "://") {
			w.address(v.Text)
		}
	}
}

var proxies = set(`PIP_INDEX_URL PIP_EXTRA_INDEX_URL NPM_CONFIG_REGISTRY npm_config_registry GOPROXY UV_INDEX_URL
	UV_DEFAULT_INDEX https_proxy http_proxy HTTPS_PROXY HTTP_PROXY ALL_PROXY`)

// settingRuns reads a value that is a command. What is not known of it may be more than a
// word if a program decides it.
func (w *walker) settingRuns(v Word) {
	if !v.Known && (strings.HasPrefix(v.Text, "$") && v.tame == wild || v.flow.made || v.flow.fetched || v.flow.decoded) {
		w.unread()
		return
	}
	w.script(v.Text, flow{})
}

// settingLoads reads a value that names what is run by whatever starts.
func (w *walker) settingLoads(name string, v Word) {
	file := rooted(v.Text) || strings.HasPrefix(v.Text, "./") || strings.HasPrefix(v.Text, "../")
	switch {
	case w.isFetched(v.Text):
		w.line.Effects |= RunsFetched
	case name == "ENV" && !file && !strings.ContainsAny(v.Text, "`("): // the name of a stage, most often
	case v.Text == "/dev/null":
	case strings.HasPrefix(v.Text, "/usr/lib") || strings.HasPrefix(v.Text, "/lib") || strings.HasPrefix(v.Text, "/opt/"):
	default:
		w.unread()
	}
}

// runningOptions are parts of options by which a language runs something.
var runningOptions = []string{"data:", "exec", "-command"}

// settingOptions reads a value that gives a language its options.
func (w *walker) settingOptions(v Word) {
	if w.isFetched(v.Text) {
		w.line.Effects |= RunsFetched
	}
	for f := range strings.FieldsSeq(v.Text) {
		_, value, _ := strings.Cut(f, "=")
		_, made := w.made[strings.TrimPrefix(value+f, "./")]
		loads := made || shared(value) || shared(f) || shared(strings.TrimLeft(f, "-rMIa"))
		if loads || strings.HasPrefix(f, "--eval") || mentions(f, runningOptions) {
			w.unread()
		}
	}
}

// settingFinds reads where programs are found: before the usual places there must be no
// folder that anybody may write, or that is wherever the line happens to be.
func (w *walker) settingFinds(v Word) {
	w.paths = true
	first, _, _ := strings.Cut(v.Text, ":")
	switch {
	case v.Text == "$" || first == "$" && !v.flow.made:
	case v.flow.fetched || v.flow.decoded || v.flow.made && first == "$":
		w.strange = true
	default:
		for dir := range strings.SplitSeq(v.Text, ":") {
			if dir == "$" {
				break
			}
			w.strange = w.strange || dir == "" || dir == "." || dir == "./" || shared(dir) && !w.ownPrograms(dir) || w.isFetched(dir)
		}
	}
}

// ownPrograms reports whether a folder is where a language keeps the programs of one
// project, and the line itself puts nothing there.
func (w *walker) ownPrograms(dir string) bool {
	root := path.Dir(cleaned(dir))
	return path.Base(cleaned(dir)) == "bin" && strings.Contains(path.Base(root), "env") &&
		!slices.ContainsFunc(w.line.Writes, func(f string) bool { return under(f, root) })
}

// ownWords are commands that every shell has itself.
var ownWords = set(`echo printf cd pushd popd export set unset true false : test [ read shift exit return local declare
	source . eval type command builtin pwd wait`)

// shared reports whether a folder is one that anybody may write.
func shared(dir string) bool {
	dir = cleaned(dir)
	return under(dir, "/tmp") || under(dir, "/var/tmp") || under(dir, "/dev/shm") || under(dir, "/private/tmp")
}
