package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// readAnnotations reads what tools are (SEQ-02).
func (r *reader) readAnnotations(n *configfile.Node) {
	seen := map[string]string{}
	for _, k := range r.Entries(n) {
		name, ok := r.tool(k, seen)
		if !ok {
			continue
		}
		var a annotation
		fact := func(to **bool) func(*configfile.Node) {
			return func(v *configfile.Node) {
				if b, ok := r.Bool(v); ok {
					*to = &b
				}
			}
		}
		r.Fields(k.Value, map[string]func(*configfile.Node){
			"taintSource": fact(&a.source), "taintSink": fact(&a.sink), "sensitive": fact(&a.sensitive),
			"onlyReads": func(v *configfile.Node) { a.reads = r.readPins(v) },
		})
		r.annotations[name] = a
	}
}

// pinForm is a definition in a few signs: its text, and what its server's hints claim.
var pinForm = regexp.MustCompile(`^[0-9a-f]{24}[-yn]{3}$`)

// readPins reads definitions of a tool, as tidemark tools --why prints them.
func (r *reader) readPins(n *configfile.Node) []string {
	var out []string
	for _, item := range r.Texts(n) {
		if !pinForm.MatchString(item.Text) {
			r.Hintf(item.Pos, "tidemark tools --why prints the hash of each definition",
				"%s is no hash of a definition: that a tool only reads is said of one text of it", item.Path)
		}
		out = append(out, item.Text)
	}
	return out
}

// OnlyReads reports whether the file says of a definition of a tool, by its hash, that it only reads. What pays, deletes, grants or
// runs by its own words is none of those for it, and what a call carries is still looked at.
func (s *Set) OnlyReads(name, pin string) bool {
	return pin != "" && slices.Contains(s.facts.annotations[tool.Name(name)].reads, pin)
}

// readTrustRules reads rules on the arguments of calls (HOOK-12).
func (r *reader) readTrustRules(n *configfile.Node) {
	r.list(n, func(item *configfile.Node, name string) {
		t := &trustRule{rule: "trustRules." + name}
		r.Fields(item, map[string]func(*configfile.Node){
			"name":    func(*configfile.Node) {},
			"tools":   func(v *configfile.Node) { t.tools = r.someTools(v) },
			"url":     func(v *configfile.Node) { r.patterns(v, t, urlSubject) },
			"path":    func(v *configfile.Node) { r.patterns(v, t, pathSubject) },
			"command": func(v *configfile.Node) { r.patterns(v, t, commandSubject) },
			"when":    func(v *configfile.Node) { t.when = r.trustCondition(v) },
			"trust":   func(v *configfile.Node) { t.trust, t.setsTrust = r.level(v) },
			"sensitivity": func(v *configfile.Node) {
				if i, ok := r.Choice(v, "public", "internal", "private", "secret"); ok {
					t.sens, t.setsSens = trust.Public+trust.Sensitivity(i), true
				}
			},
			"readers": func(v *configfile.Node) { r.readReaders(v, t) },
			"effect":  func(v *configfile.Node) { r.readOtherwise(v, t, item) },
		})
		if item.Get("tools") == nil {
			r.Errorf(item.Pos, "%s needs tools: a rule about trust names the tools it speaks of", item.Path)
		}
		if item.Get("trust") == nil && item.Get("sensitivity") == nil && item.Get("readers") == nil {
			r.Errorf(item.Pos, "%s needs trust, sensitivity or readers", item.Path)
		}
		if item.Get("effect") == nil {
			t.otherwise = Confirm
		}
		r.trustRules = append(r.trustRules, t)
	})
}

// trustCondition is a condition on the call alone: what a response is trusted as
// must not depend on when it came.
func (r *reader) trustCondition(n *configfile.Node) *condition {
	c := r.condition(n)
	if c != nil && c.rest {
		r.Errorf(n.Pos, "%s can look at tool and args only", n.Path)
	}
	return c
}

// patterns reads the patterns of one kind; a rule has at most one kind.
func (r *reader) patterns(n *configfile.Node, t *trustRule, kind subjectKind) {
	if t.kind != anySubject {
		r.Errorf(n.Pos, "%s: a rule has either %s or %s, write two rules", n.Path, subjectNames[t.kind], subjectNames[kind])
		return
	}
	t.kind = kind
	for _, item := range r.Texts(n) {
		var err error
		switch kind {
		case urlSubject:
			var p urlPattern
			p, err = parseURLPattern(item.Text)
			t.urls = append(t.urls, p)
		case pathSubject:
			var p pathPattern
			p, err = parsePathPattern(item.Text)
			t.paths = append(t.paths, p)
		default:
			t.commands = append(t.commands, parseCommandPattern(item.Text))
		}
		if err != nil {
			r.Errorf(item.Pos, "%s: %v", item.Path, err)
		}
	}
	if len(t.urls)+len(t.paths)+len(t.commands) == 0 {
		r.Errorf(n.Pos, "%s names nothing", n.Path)
	}
}

func (r *reader) readTrifecta(n *configfile.Node) {
	if i, ok := r.Choice(n, "off", "confirm", "restrict"); ok {
		r.trifecta = looser[i]
	}
}

func (r *reader) readClassification(n *configfile.Node) {
	r.Fields(n, map[string]func(*configfile.Node){
		"withoutSenderMetadata": func(v *configfile.Node) { r.without, _ = r.level(v) },
	})
}

func (r *reader) readRecord(n *configfile.Node) {
	r.Fields(n, map[string]func(*configfile.Node){
		"previews": r.flag(&r.settings.Previews),
		"messages": r.flag(&r.settings.RecordMessages),
		"arguments": func(v *configfile.Node) {
			if i, ok := r.Choice(v, "none", "sealed", "redacted"); ok {
				r.settings.RecordArguments = Arguments(i) //nolint:gosec // one of three, in their order
			}
		},
		"content": func(v *configfile.Node) {
			if i, ok := r.Choice(v, "sealed", "hashes"); ok {
				r.settings.RecordHashes = i == 1
			}
		},
	})
}

// readMemoryFiles replaces the shipped list.
func (r *reader) readMemoryFiles(n *configfile.Node) {
	r.memory = nil
	for _, item := range r.Texts(n) {
		p, err := memoryPattern(item.Text)
		if err != nil {
			r.Errorf(item.Pos, "%s: %v", item.Path, err)
		}
		r.memory = append(r.memory, p)
	}
}

// memoryPattern fits anywhere in a path: hosts disagree on where a workspace is.
func memoryPattern(s string) (pathPattern, error) {
	if p, err := parsePathPattern(s); err != nil {
		return p, err
	}
	if !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "~") {
		s = "**/" + s
	}
	return parsePathPattern(s)
}

func shippedMemoryPatterns() []pathPattern {
	var out []pathPattern
	for s := range strings.FieldsSeq(shippedMemory) {
		p, _ := memoryPattern(s) // a table of ours, no pattern of it can be wrong
		out = append(out, p)
	}
	return out
}
