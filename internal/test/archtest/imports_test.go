package archtest_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The packages by what they may know. Nothing imports a package above its own layer.
var (
	// leaves know nothing of ours. Pure packages may use them: docs/decisions/0001.
	leaves = []string{"internal/base/strictjson", "internal/base/configfile", "internal/base/redact", "shell"}
	// words are the values everything speaks in.
	words = []string{"trust", "tool", "audit"}
	// senses understand tools and values; they know the words alone.
	senses = []string{"meaning", "origin"}
	// grounds puts them together: what a call stands on.
	ground = []string{"grounds"}
	// parts are the engine's mechanisms, each on its own.
	parts = []string{"provenance", "policy", "approval", "intent", "hook"}
	// engine is the monitor.
	engine = []string{"."}
	// shapes are what several adapters have in common: rows and pictures, no I/O.
	shapes = []string{"store", "internal/draw", "internal/reports/report", "internal/llm/format"}
	// shared is what every door stands on: who waits is woken by what is recorded, and no web
	// page speaks to any of them.
	shared = []string{"internal/people/waiting", "internal/base/guard"}
	// ways is how adapters reach configured servers.
	ways = []string{"internal/base/outbound"}
	// looks reads agents' settings, for who writes them and for the hook that watches them.
	looks = []string{"internal/agents/settings"}
)

// layer says what the packages in dirs may import of ours, tests apart.
type layer struct {
	dirs []string
	may  []string
	why  string
}

// layers are tried in order; the first that holds a package decides.
var layers = []layer{
	{leaves, nil, "a leaf knows nothing of ours"},
	{words, leaves, "the words everything speaks in know nothing above them"},
	{senses, join(leaves, words), "what understands a tool or a value knows no policy"},
	{ground, join(leaves, words, senses), "what a call stands on is said in words and senses"},
	{parts, join(leaves, words), "the engine's parts do not know one another"},
	{engine, join(leaves, words, senses, ground, parts), "the engine reaches the world only through its ports"},
	{shapes, join(leaves, words, senses, ground, parts, engine), "what adapters share knows no adapter"},
	{ways, nil, "how a server is reached has nothing to do with what is asked"},
	{shared, join(leaves, words, senses, ground, parts, engine, ways), "what doors share knows no door"},
	{looks, leaves, "what the hook links must stay small"},
	{[]string{"internal/app"}, []string{".", "internal/...", "trust", "tool", "audit", "provenance", "policy", "approval", "intent", "hook", "meaning", "origin", "grounds"}, "the wiring knows everything but the programs"},
	{[]string{"cmd/..."}, join(leaves, words, senses, ground, parts, engine, shapes, []string{"internal/app", "internal/reports/replay", "internal/agents/install", "internal/agents/shim"}), "a program reaches adapters only through internal/app"},
	{[]string{"scripts/..."}, nil, "a script stands alone"},
	{[]string{"internal/llm/proxy/..."}, join(leaves, words, senses, ground, parts, engine, shapes, shared, []string{"internal/llm/proxy/..."}), "the proxy's parts know one another, never another adapter"},
	{[]string{"internal/..."}, join(leaves, words, senses, ground, parts, engine, shapes, shared, looks, ways), "an adapter knows the engine, never another adapter"},
}

func join(lists ...[]string) []string { return slices.Concat(lists...) }

// exception allows one import that its layer forbids, for a reason.
type exception struct{ from, to, why string }

var importExceptions = []exception{
	{"internal/agents/install", "plugins/openclaw", "it writes that plugin's files, which are embedded there"},
	{"internal/config", "internal/outside/verifier", "the verifier reads its own section, faults and all; the file is still read in one go"},
}

func checkImports(t *tree) []string {
	out := t.findings()
	eachImport(t, func(p *pkg, f *file, i int, to string) {
		l := layerOf(p.dir)
		if l == nil {
			out.at(f.ast.Imports[i].Pos(), "%s is in no layer: add it to the import rules", p.dir)
			return
		}
		if !within(to, l.may) && !excepted(p.dir, to) {
			out.at(f.ast.Imports[i].Pos(), "%s must not import %s: %s", p.dir, to, l.why)
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

func layerOf(dir string) *layer {
	for i := range layers {
		if within(dir, layers[i].dirs) {
			return &layers[i]
		}
	}
	return nil
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
