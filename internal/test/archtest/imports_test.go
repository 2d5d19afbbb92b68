package archtest_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layer is one floor of the house.
type layer struct {
	dirs []string
	why  string
}

// layers, from the ground up. A package knows the floors below it and, of its own floor,
// what stands in the same folder. The first row that holds a package decides.
var layers = []layer{
	{[]string{"internal/base/...", "plugins/openclaw"}, "the base knows nothing of ours"},
	{[]string{"trust", "tool", "internal/audit"}, "the words everything speaks in know nothing above them"},
	{[]string{"internal/approval", "intent", "hook", "internal/event"}, "the engine's parts do not know one another"},
	{[]string{"internal/extract"}, "what may come out of a text hangs on the text and the shape alone"},
	{[]string{"internal/warrant/..."}, "judgement knows no policy"},
	{[]string{"internal/contract"}, "a contract is what was drawn, kept and is judged by"},
	{[]string{"policy"}, "a policy judges what it is told"},
	{[]string{"internal/facts"}, "what a policy may ask is answered by judgement"},
	{[]string{"internal/session"}, "state is a fold over events"},
	{[]string{"internal/checkpoint"}, "a conversation is told again from its log, and from nothing else"},
	{[]string{"internal/confined"}, "a ticket knows its own log and nothing else"},
	{[]string{"internal/graph"}, "a graph is derived from events"},
	{[]string{"internal/labels"}, "what was written while tainted is kept for all sessions, and knows none"},
	{[]string{"internal/standing"}, "what is allowed for good is kept for all sessions, and knows none"},
	{[]string{"internal/question"}, "the text of a question is made of what the log keeps"},
	{[]string{"internal/explain"}, "what would happen to a call is said without a session"},
	{[]string{"internal/sessions"}, "sessions in memory know their logs and which questions are open, and nothing that is decided in them"},
	{[]string{"internal/families"}, "who was spawned by whom is kept for all sessions, and knows none"},
	{[]string{"internal/engine"}, "the engine reaches the world only through its ports"},
	{[]string{"internal/store", "internal/store/notify", "internal/store/shelf", "internal/store/patient", "internal/store/retention", "internal/draw", "internal/reports/report", "internal/reports/timeline",
		"internal/llm/format/...", "internal/mcp/wire"}, "what adapters share knows no adapter"},
	{[]string{"internal/plugins/..."}, "a plugin knows what anybody's may know, and no door"},
	{[]string{"internal/reports/definitions"}, "how definitions became what they are is read from a log, whatever reads it"},
	{[]string{"internal/datafolder"}, "where an installation keeps what it keeps is known to all that keep something there, and knows none of them"},
	{[]string{"internal/waiting", "internal/people/signin", "internal/people/approvalproof", "internal/people/accounts", "internal/people/sight",
		"internal/people/policyfile", "internal/reports/recordsearch", "internal/reports/toolusage", "internal/reports/renamed", "internal/reports/tally",
		"internal/handles", "internal/claims", "internal/pins", "internal/mcp/upstreams", "internal/agents/harness"},
		"what doors share knows no door"},
	{adapters, "an adapter knows the engine, never an adapter of another folder"},
	{[]string{".", "store/sqlite", "store/postgres"}, "what an embedder calls knows the engine and what it is given by default"},
	{[]string{"internal/config"}, "a file is read in one go, each section by the adapter it is about"},
	{[]string{"internal/config/load"}, "the file is read from the disk, by whoever is to do as it says"},
	{[]string{"internal/installation"}, "the log of a data folder is opened as its file says, whoever wants to look"},
	{[]string{"internal/services"}, "those whom the file names are opened together, and a trial of one may look into the log"},
	{[]string{"internal/policies"}, "a policy is held against the log, and a model may write one"},
	{[]string{"internal/diagnosis"}, "whoever examines an installation looks at all of it"},
	{[]string{"internal/machines"}, "other machines are let in by the door they reach"},
	{[]string{"internal/localserver"}, "a server of this machine is started and stopped from outside"},
	{[]string{"internal/app"}, "the wiring knows everything but the programs"},
	{[]string{"cmd/..."}, "a program reaches adapters only through internal/app and the rooms that it opens"},
	{[]string{"internal/test/..."}, "tests look at everything, from outside"},
	{[]string{"scripts/..."}, "a script stands alone"},
}

// adapters touch the world; each folder is one of them.
var adapters = []string{
	"internal/httpapi", "internal/llm/...", "internal/agents/...", "internal/people/...",
	"internal/external/...", "internal/reports/...", "internal/mcp/...", "internal/box/...", "internal/store/...",
}

// reached are the adapters a program may use without the wiring: they need none, or are
// clients of a server that runs.
var reached = []string{"internal/reports/replay", "internal/agents/...", "internal/people/tui", "internal/mcp/...", "internal/box/...",
	"internal/store/backup"}

func floorOf(dir string) int {
	return slices.IndexFunc(layers, func(l layer) bool { return within(dir, l.dirs) })
}

// mayImport reports whether a package may know another, by their floors.
func mayImport(from, to string) bool {
	a, b := floorOf(from), floorOf(to)
	switch {
	case within(from, []string{"scripts/..."}):
		return false
	case within(from, []string{"cmd/..."}) && (b == floorOf("internal/httpapi") || b == floorOf("internal/config")):
		return within(to, reached)
	case to == "." && within(from, []string{"store/..."}):
		return true
	case a == b:
		return folderOf(from) == folderOf(to)
	}
	return b >= 0 && b < a
}

// folderOf is the room a package belongs to.
func folderOf(dir string) string {
	parts := strings.Split(dir, "/")
	if parts[0] == "internal" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// exception allows one import that its layer forbids, for a reason.
type exception struct{ from, to, why string }

var importExceptions = []exception{}

func checkImports(t *tree) []string {
	out := t.findings()
	eachImport(t, func(p *pkg, f *file, i int, to string) {
		floor := floorOf(p.dir)
		if floor < 0 {
			out.at(f.ast.Imports[i].Pos(), "%s is in no layer: add it to the import rules", p.dir)
			return
		}
		if !mayImport(p.dir, to) && !excepted(p.dir, to) {
			out.at(f.ast.Imports[i].Pos(), "%s must not import %s: %s", p.dir, to, layers[floor].why)
		}
	})
	return out.list
}

// eachImport visits every import of ours outside tests.
func eachImport(t *tree, visit func(p *pkg, f *file, i int, to string)) {
	for _, p := range t.pkgs {
		for _, f := range p.code() {
			for i, spec := range f.ast.Imports {
				name, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					continue // the parser has accepted it
				}
				if to, ok := ours(name); ok {
					visit(p, f, i, to)
				}
			}
		}
	}
}

// ours turns an import path into a folder of this module.
func ours(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

func excepted(from, to string) bool {
	return slices.ContainsFunc(importExceptions, func(e exception) bool { return e.from == from && e.to == to })
}

func TestNoImportExceptionIsStale(t *testing.T) {
	used := map[exception]bool{}
	eachImport(repository(t), func(p *pkg, _ *file, _ int, to string) {
		for _, e := range importExceptions {
			if e.from == p.dir && e.to == to {
				used[e] = true
			}
		}
	})
	for _, e := range importExceptions {
		if !used[e] {
			t.Errorf("exception %s -> %s: nothing needs it any more", e.from, e.to)
		}
		if e.why == "" {
			t.Errorf("exception %s -> %s: no reason given", e.from, e.to)
		}
	}
}
