package policy

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/glob"
	"github.com/tidemark/tidemark/internal/base/redact"
	"github.com/tidemark/tidemark/internal/warrant/given"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Reserved are the top-level keys of the file that other packages read.
func Reserved() []string {
	return []string{
		"server", "hooks",
		"reader", "auditor", "extract", "contracts", "verifier", "telegram", "channels", "shadow", "llm", "mcp", "approvals",
		"plugins", "console", "retention", "anchors",
	}
}

// Default is the Set of an empty file: the balanced preset.
func Default() *Set {
	set, _ := Parse("", nil)
	return set
}

// Parse reads a policy file. It is pure: file is only the name in messages. The
// Faults may hold warnings beside a Set; with an error among them the Set is nil.
// It ignores the Reserved keys.
func Parse(file string, src []byte) (*Set, Faults) {
	root, faults := configfile.Parse(file, src)
	if faults.Err() != nil {
		return nil, public(faults)
	}
	return parseTree(root, false)
}

func parseTree(root *configfile.Node, foreign bool) (*Set, Faults) {
	r := newReader(root)
	r.Foreign = foreign
	r.readGroups(root.Get("groups"))
	r.Fields(root, r.fields(), append(slices.Clone(formerKeys), formerStore,
		configfile.Former{Name: "classification", Now: "withoutSenderMetadata without that section", Read: r.readClassification})...)
	r.finish()
	r.warnReplaced()
	r.Faults.Sort()
	if r.Faults.Err() != nil {
		return nil, public(r.Faults)
	}
	set := r.compile(r.redactor())
	set.version = version(root)
	for _, agent := range set.agents {
		agent.version = set.version
	}
	return set, public(r.Faults)
}

// reader decodes one file.
type reader struct {
	configfile.Decoder
	cel         compiler
	base        *scope
	settings    Settings
	without     trust.Level // classification.withoutSenderMetadata
	annotations map[string]annotation
	trustRules  []*trustRule
	given       []*given.Mandate // standing
	trifecta    entry            // Allow: off
	memory      []pathPattern
	writers     toolset
	opened      configfile.Faults // what lets everything of a tool run
	labelled    toolset           // tools whose servers are taken at their word of who may read a result
	vouched     toolset           // and of what it is worth
	told        toolset           // tools whose results are labelled for others
	held        toolset           // tools whose results are kept from agents
	caution     caution
	redaction   redact.Rules
	box         Box
	agents      map[string]*scope
	groups      map[string]group
	named       map[string]bool // tools the file or the shipped tables name
	keyed       map[string]bool // those among them that say something of a tool, and so know it
	slips       []func()        // tools in conditions, looked at once all that the file names are known
	root        *configfile.Node
	replaced    bool // taintPolicy took the place of the preset's own table
	later       struct{ strictness, agents *configfile.Node }
}

func newReader(root *configfile.Node) *reader {
	r := &reader{
		root: root,
		settings: Settings{
			Preset: presets[0].name, ApprovalTTL: 120 * time.Second, QuestionTTL: 15 * time.Minute,
			ApprovalScope: "call", TaintScope: "session",
			Previews: true, RecordMessages: true, RecordArguments: ArgumentsSealed, Asking: defaultAsking(),
		},
		caution:     caution{tools: map[string]bool{}},
		box:         Box{Layer: layers[0]},
		annotations: map[string]annotation{},
		trifecta:    entry{effect: Confirm},
		agents:      map[string]*scope{},
		groups:      map[string]group{},
		named:       map[string]bool{},
		keyed:       map[string]bool{},
	}
	preset := 0
	if n := root.Get("preset"); !n.Empty() {
		names := make([]string, len(presets))
		for i := range presets {
			names[i] = presets[i].name
		}
		if i, ok := r.Choice(n, names...); ok {
			preset, r.settings.Preset = i, names[i]
		}
	}
	r.base = shippedScope(preset)
	if rules, needs := r.presetRules(r.settings.Preset); !root.Get("taintPolicy").Empty() && needs != nil {
		// A file that judges by levels does so at every level, as it always did.
		r.base, r.replaced = shippedScope(byLevels), true
	} else {
		r.base.preset, r.base.needs = rules, needs
	}
	r.settings.Confine = r.confining()
	r.memory, r.writers = shippedMemoryPatterns(), tools(strings.Fields(shippedWriters)...)
	for name := range r.base.outputs {
		r.named[name], r.keyed[name] = true, true
	}
	for _, names := range []string{shippedSafe, shippedCommandTools, shippedWriters, shippedCautioned, shippedUncautioned} {
		for name := range strings.FieldsSeq(names) {
			r.keyed[name] = true
		}
	}
	return r
}

// fields are all keys a file may have.
func (r *reader) fields() map[string]func(*configfile.Node) {
	all := map[string]func(*configfile.Node){
		"preset":                func(*configfile.Node) {}, // read first, the other keys merge over it
		"groups":                func(*configfile.Node) {}, // read first, rules name them
		"annotations":           r.readAnnotations,
		"trustRules":            r.readTrustRules,
		"standing":              r.readStanding,
		"memoryFiles":           r.readMemoryFiles,
		"memoryTools":           func(n *configfile.Node) { r.writers = r.toolset(n) },
		"serverLabels":          func(n *configfile.Node) { r.labelled = r.toolset(n) },
		"serverTrust":           func(n *configfile.Node) { r.vouched = r.toolset(n) },
		"labelResults":          func(n *configfile.Node) { r.told = r.toolset(n) },
		"holdResults":           func(n *configfile.Node) { r.held = r.toolset(n) },
		"strictness":            func(n *configfile.Node) { r.later.strictness = n },
		"agents":                func(n *configfile.Node) { r.later.agents = n },
		"lethalTrifecta":        r.readTrifecta,
		"withoutSenderMetadata": func(n *configfile.Node) { r.without, _ = r.level(n) },
		"record":                r.readRecord,
		"taintNotice":           r.flag(&r.settings.TaintNotice),
		"provenanceFooter":      r.flag(&r.settings.Footer),
		"caution":               r.readCaution,
		"taintEscalation":       r.readTaintEscalation,
		"taskPolicy":            r.readTaskPolicy,
		"redaction":             r.readRedaction,
		"confine":               r.readConfine,
		"box":                   r.readBox,
		"approvalScope":         r.word(&r.settings.ApprovalScope, "call", "turn"),
		"taintScope":            r.word(&r.settings.TaintScope, "session", "turn"),
		"approvalTtlSeconds": func(n *configfile.Node) {
			if v, ok := r.Int(n, 10, 86_400); ok {
				r.settings.ApprovalTTL = time.Duration(v) * time.Second
			}
		},
		"questionTtlSeconds": func(n *configfile.Node) {
			if v, ok := r.Int(n, 10, 86_400); ok {
				r.settings.QuestionTTL = time.Duration(v) * time.Second
			}
		},
		"approvalMaxOpen": func(n *configfile.Node) {
			if v, ok := r.Int(n, 1, 256); ok {
				r.settings.MaxOpen = int(v)
			}
		},
	}
	for _, name := range Reserved() {
		all[name] = func(*configfile.Node) {}
	}
	maps.Copy(all, r.scoped(r.base, ""))
	return all
}

// formerKeys are those of a file, and of an agent in it, that have another name now.
var formerKeys = []configfile.Former{{Name: "confirmTools", Now: "askTools"}}

// formerStore is a section that was kept free for a setting that came as a flag.
var formerStore = configfile.Former{Name: "store", Now: "nothing: --store and TIDEMARK_STORE say where the log is",
	Read: func(*configfile.Node) {}}

// scoped are the keys that an agent may have as well.
func (r *reader) scoped(s *scope, prefix string) map[string]func(*configfile.Node) {
	own := &s.layers[len(s.layers)-1]
	return map[string]func(*configfile.Node){
		"taintPolicy":      func(n *configfile.Node) { r.readTaintPolicy(n, s, prefix) },
		"toolOverrides":    func(n *configfile.Node) { r.readOverrides(n, s, prefix) },
		"toolOutputTaints": func(n *configfile.Node) { r.readOutputs(n, s, prefix) },
		"rules":            func(n *configfile.Node) { own.rules = r.readRules(n, prefix) },
		"policies":         func(n *configfile.Node) { s.policies = append(s.policies, r.readPolicies(n, prefix)...) },
		"defaultEffect":    func(n *configfile.Node) { r.readDefaultEffect(n, own) },
		"askTools":         func(n *configfile.Node) { r.readAskTools(n, s) },
		"maxIterations":    func(n *configfile.Node) { r.readMaxIterations(n, s) },
		"warrants":         func(n *configfile.Node) { s.needs = r.readWarrants(n, s.needs, prefix+"warrants.") },
	}
}

// AgentReserved are the keys of an agent that other packages read.
func AgentReserved() []string { return []string{"verifier", "reader"} }

// finish reads what stands on the rest of the file.
func (r *reader) finish() {
	r.monotone(&r.base.levels, "taintPolicy", func(l trust.Level) string { return "taintPolicy." + l.String() })
	r.readStrictness(r.later.strictness)
	r.readAgents(r.later.agents)
	r.trustRules = append(r.trustRules, shippedTrustRules()...)
	for _, look := range r.slips {
		look()
	}
	for _, s := range append(slices.Collect(maps.Values(r.agents)), r.base) {
		if n := len(s.bounds()); n > maxBounds {
			r.Errorf(r.root.Pos, "iteration_gte has %d different values, more than the %d allowed", n, maxBounds)
			return
		}
	}
}

// warnReplaced says what a taintPolicy does to a preset that looks at calls: who wrote one
// line of it meant one line. A file that names a preset of modes has said so itself.
func (r *reader) warnReplaced() {
	if !r.replaced || r.Faults.Err() != nil {
		return
	}
	for _, k := range r.root.Keys {
		if k.Name == "taintPolicy" {
			r.Warnf(k.Pos, "taintPolicy switches the table of %[1]s off: every call is judged by the level of its context alone, "+
				"as with %[2]s (for a few calls use toolOverrides, warrants or rules; if this is meant, add preset: %[2]s)",
				r.settings.Preset, presets[byLevels].name)
		}
	}
}

func (r *reader) flag(to *bool) func(*configfile.Node) {
	return func(n *configfile.Node) {
		if v, ok := r.Bool(n); ok {
			*to = v
		}
	}
}

func (r *reader) word(to *string, choices ...string) func(*configfile.Node) {
	return func(n *configfile.Node) {
		if i, ok := r.Choice(n, choices...); ok {
			*to = choices[i]
		}
	}
}

// tool is a tool's one spelling; two spellings of it in one map are one too many.
func (r *reader) tool(k configfile.Key, seen map[string]string) (string, bool) {
	name := tool.Name(k.Name)
	if name == "" {
		r.Errorf(k.Pos, "a tool needs a name")
		return "", false
	}
	if first, twice := seen[name]; twice {
		r.Errorf(k.Pos, "%q and %q are the same tool", k.Name, first)
		return "", false
	}
	seen[name] = k.Name
	r.named[name], r.keyed[name] = true, true
	return name, true
}

// toolset reads a list of tools by name or pattern.
func (r *reader) toolset(n *configfile.Node) toolset {
	t := tools()
	for _, item := range r.Texts(n) {
		name := tool.Name(item.Text)
		if glob.Has(name) {
			if !slices.Contains(t.globs, name) {
				t.globs = append(t.globs, name)
			}
			continue
		}
		t.names[name] = true
		r.named[name] = true
		r.slips = append(r.slips, func() { r.slip(item.Pos, item.Path, name) })
	}
	return t
}

// someTools is a toolset that must name one.
func (r *reader) someTools(n *configfile.Node) toolset {
	before := len(r.Faults)
	t := r.toolset(n)
	if len(t.names)+len(t.globs) == 0 && len(r.Faults) == before {
		r.Errorf(n.Pos, "%s names no tool", n.Path)
	}
	return t
}

// level reads the name of a level.
func (r *reader) level(n *configfile.Node) (trust.Level, bool) {
	levels := trust.Levels()
	names := make([]string, len(levels))
	for i, l := range levels {
		names[i] = l.String()
	}
	i, ok := r.Choice(n, names...)
	if !ok {
		return trust.Untrusted, false
	}
	return levels[i], true
}

// The words of a file for what becomes of a call, the loosest first. A call that is denied is refused, and its tool stays in the
// agent's list; hide takes the tool out of the list too.
var (
	modeWords   = []string{"allow", "ask", "deny", "hide"}
	effectWords = modeWords[:3]
	heldWords   = modeWords[1:3]
	looser      = [...]Effect{Allow, Confirm, Deny, Deny}
)

// formerModes and formerEffects are the words of files from before.
var (
	formerModes   = []configfile.Former{{Name: "confirm", Now: "ask"}, {Name: "restrict", Now: "hide"}}
	formerEffects = []configfile.Former{{Name: "escalate", Now: "ask"}}
)

// mode reads what becomes of the calls of a tool in some context.
func (r *reader) mode(n *configfile.Node) (entry, bool) {
	i, ok := r.Word(n, modeWords, formerModes...)
	return entry{effect: looser[i], shows: modeWords[i] == "deny", pos: n.Pos, given: ok}, ok
}
