package policy

import (
	"embed"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/trust"
)

// shippedOutputs is the default trust of what each tool brings back (PRV-03).
var shippedOutputs = map[trust.Level]string{
	trust.System: "gateway session_status",
	trust.Local: "read edit write exec process tts cron sessions_spawn sessions_send sessions_list sessions_history agents_list " +
		"nodes canvas tool_search tool_describe ls apply_patch sessions_yield",
	trust.Shared:    "vestige_search vestige_smart_ingest vestige_ingest vestige_promote vestige_demote memory_search memory_get",
	trust.External:  "message gog image",
	trust.Untrusted: "web_fetch web_search browser",
}

// shippedSafe are the tools that may be called whatever the context holds (PRV-14).
const shippedSafe = "read memory_search memory_get web_fetch web_search image session_status sessions_list " +
	"sessions_history agents_list vestige_search vestige_promote vestige_demote"

// presets give the mode of each level, system first. The first is what an empty file is.
var presets = []struct {
	name  string
	modes [trust.NumLevels]Effect
	cap   int // model calls of a turn; 0: none, long work is no sign of harm where calls are looked at themselves
}{
	// These look at the call itself: see their rules in presets/.
	{"balanced", [...]Effect{Allow, Allow, Allow, Allow, Allow, Allow}, 0},
	{"strict", [...]Effect{Allow, Allow, Allow, Allow, Allow, Allow}, 0},
	{"quiet", [...]Effect{Allow, Allow, Allow, Allow, Allow, Allow}, 0},
	// These look at the level of the context alone.
	{"classic", [...]Effect{Allow, Allow, Allow, Confirm, Confirm, Confirm}, 10},
	{"paranoid", [...]Effect{Allow, Allow, Allow, Deny, Deny, Deny}, 10},
	{"permissive", [...]Effect{Allow, Allow, Allow, Allow, Allow, Confirm}, 10},
	{"interactive", [...]Effect{Allow, Allow, Allow, Confirm, Confirm, Deny}, 10},
}

// byLevels is the preset whose modes a file's own taintPolicy merges over, where its
// preset has rules instead.
const byLevels = 3

//go:embed presets/*.yaml
var presetFiles embed.FS

// presetFile begins the places of what a preset says.
const presetFile = "preset:"

// presetRules reads the rules and the table of a preset that has some, in the language of
// any file.
func (r *reader) presetRules(name string) ([]*rule, *table) {
	src, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		return nil, nil // a preset of modes alone
	}
	root, faults := configfile.Parse(presetFile+name, src)
	r.Faults = append(r.Faults, faults...)
	var out []*rule
	var needs *table
	r.Fields(root, map[string]func(*configfile.Node){
		"rules":    func(n *configfile.Node) { out = r.readRules(n, name+".") },
		"warrants": func(n *configfile.Node) { needs = r.readWarrants(n, nil, name+".") },
	})
	for _, u := range out {
		u.reason.Rule = name + "." + strings.TrimPrefix(u.reason.Rule, name+".rules.")
	}
	return out, needs
}

// shippedCommandTools run a command of the host's own shell.
const shippedCommandTools = "exec process bash shell sh terminal run_shell_command run_command execute_command " +
	"local_shell shell_command run_terminal_cmd exec_command powershell"

// The shipped trust rules (HOOK-12). They only ever lower the table's level, so
// they do not make a tool trusted that the table does not trust.
const (
	shippedMail = "himalaya mutt neomutt mail mailx s-nail nail sendmail msmtp alpine pine aerc notmuch mbsync isync offlineimap " +
		"fetchmail getmail mu mblaze mshow swaks gog gmailctl lieer gmi"
	shippedForge = "gh glab hub tea"
	shippedWeb   = "curl wget wget2 http https httpie xh curlie aria2c axel lynx w3m links links2 elinks browsh " +
		"ftp lftp sftp tftp telnet nc ncat netcat socat yt-dlp youtube-dl gallery-dl " +
		"invoke-webrequest iwr invoke-restmethod irm playwright puppeteer chromium google-chrome firefox"
)

// The tools whose output is, or is not, followed by an audit of what the agent does
// (CAU-01). A tool in neither list is, when what it brings back is external or worse.
const (
	shippedCautioned   = "web_fetch email webhook hooks browser"
	shippedUncautioned = "web_search read write exec nodes message"
)

// shippedActions are the actions of the message tool that only answer "done".
const shippedActions = "send reply react edit delete unsend pin unpin broadcast forward poll typing sticker_send " +
	"thread_create thread_reply sendattachment sendwitheffect upload_file"

// Memory files: what an agent reads back as its own in later sessions.
const (
	shippedMemory = "MEMORY.md memory/** SOUL.md AGENTS.md TOOLS.md IDENTITY.md USER.md HEARTBEAT.md BOOTSTRAP.md " +
		"CLAUDE.md CLAUDE.local.md .claude/** GEMINI.md .gemini/** .cursorrules .cursor/rules/** .windsurfrules .clinerules " +
		".github/copilot-instructions.md"
	shippedWriters = "write edit apply_patch write_file edit_file create_file str_replace str_replace_editor " +
		"str_replace_based_edit_tool multiedit multi_edit notebookedit replace append_file insert"
)

// shippedScope is the base every file starts from.
func shippedScope(preset int) *scope {
	s := &scope{overrides: map[string]*override{}, outputs: map[string]output{}, maxIterations: presets[preset].cap}
	for i, l := range trust.Levels() {
		s.levels[l] = entry{effect: presets[preset].modes[i], rule: "taintPolicy." + l.String(), given: true}
	}
	for level, names := range shippedOutputs {
		for name := range strings.FieldsSeq(names) {
			s.outputs[name] = output{level: level, rule: "toolOutputTaints." + name}
		}
	}
	for name := range strings.FieldsSeq(shippedSafe) {
		s.overrides[name] = &override{any: entry{effect: Allow, rule: "toolOverrides." + name + ".*", given: true}}
	}
	gateway := &override{}
	for _, l := range []trust.Level{trust.Local, trust.Shared, trust.External, trust.Untrusted} {
		gateway.level[l] = entry{effect: Confirm, rule: "toolOverrides.gateway." + l.String(), given: true, floor: true}
	}
	s.overrides["gateway"] = gateway
	s.layers = []layer{{def: Allow, rule: "defaultEffect"}}
	return s
}

func shippedTrustRules() []*trustRule {
	command := func(name, programs string, level trust.Level) *trustRule {
		r := &trustRule{rule: "trustRules." + name, tools: tools(strings.Fields(shippedCommandTools)...),
			kind: commandSubject, trust: level, setsTrust: true, lowers: true}
		for p := range strings.FieldsSeq(programs) {
			r.commands = append(r.commands, commandPattern{p})
		}
		return r
	}
	return []*trustRule{
		command("web-client", shippedWeb, trust.Untrusted),
		command("mail-cli", shippedMail, trust.External),
		command("forge-cli", shippedForge, trust.External),
		{rule: "trustRules.message-done", tools: tools("message"), actions: strings.Fields(shippedActions),
			trust: trust.Local, setsTrust: true},
	}
}
