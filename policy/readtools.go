package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/glob"
	signs "github.com/tidemark/tidemark/internal/base/text"
	"github.com/tidemark/tidemark/internal/warrant"
	"github.com/tidemark/tidemark/internal/warrant/given"
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

// Standing is a mandate of the file that holds for good.
type Standing struct {
	Rule        string // standing.NAME
	Text        string // what it lets run, in words
	Pos         string // in the file
	Tools       []string
	Agents      []string // none: every agent
	Definitions []string // of the tools, by their hashes; none: whatever they are
	mandate     *given.Mandate
}

// StandingCall is a call that nothing asks about but that nobody ordered it.
type StandingCall struct {
	Agent, Tool, Definition string
	Args                    *tool.Args
	Facts                   Facts
	Texts                   []string // paths of what people write and read; what it carries was looked at
	Approved                int64    // calls of the tool that ran in this session because somebody let them
}

// Standing are the mandates of the file that hold for good, in its order.
func (s *Set) Standing() []Standing {
	out := make([]Standing, 0, len(s.facts.given))
	for _, m := range s.facts.given {
		out = append(out, Standing{m.Rule, m.String(), m.Pos, m.Tools, m.Agents, m.Pins, m})
	}
	return out
}

// Covers reports whether it lets a call run.
func (s *Standing) Covers(c *StandingCall) bool {
	read, ok := c.Facts.(interface{ Judged() *warrant.Warrant })
	if !ok || c.Args == nil || s.mandate == nil {
		return false
	}
	return s.mandate.Covers(&given.Call{
		Agent: c.Agent, Tool: c.Tool, Pin: c.Definition, Args: string(c.Args.Raw()), Free: c.Texts, Found: read.Judged(),
		Approved: c.Approved,
	})
}

// The bounds of a standing mandate.
const (
	maxLiterals = 1000
	maxGiven    = 1000 // calls in a session
	fewGiven    = 20
)

// readStanding reads what runs for good without an order of the user's: every value of it to the letter (MAN-09).
func (r *reader) readStanding(n *configfile.Node) {
	r.list(n, func(item *configfile.Node, name string) {
		m := &given.Mandate{Rule: "standing." + name, Calls: fewGiven, Pos: item.Pos.String()}
		r.Fields(item, map[string]func(*configfile.Node){
			"name":        func(*configfile.Node) {},
			"act":         func(v *configfile.Node) { m.Act = r.givenAct(v) },
			"tools":       func(v *configfile.Node) { m.Tools = r.givenTools(v) },
			"definitions": func(v *configfile.Node) { m.Pins = r.readPins(v) },
			"agents":      func(v *configfile.Node) { m.Agents = r.literals(v) },
			"aims":        func(v *configfile.Node) { m.Aims = r.literals(v) },
			"objects":     func(v *configfile.Node) { m.Objects = r.literals(v) },
			"upTo": func(v *configfile.Node) {
				for _, k := range r.Entries(v) {
					if most, ok := r.Number(k.Value, 0, 1e12); ok {
						m.UpTo = append(m.UpTo, given.Bound{Path: k.Name, Most: most})
					}
				}
			},
			"with": func(v *configfile.Node) {
				for _, k := range r.Entries(v) {
					m.With = append(m.With, given.Fixed{Path: k.Name, Values: r.literals(k.Value)})
				}
			},
			"calls": func(v *configfile.Node) { m.Calls, _ = r.Int(v, 1, maxGiven) },
		})
		r.checkStanding(item, m)
		r.given = append(r.given, m)
	})
}

// checkStanding reports what an entry leaves open.
func (r *reader) checkStanding(item *configfile.Node, m *given.Mandate) {
	for _, key := range []string{"act", "tools"} {
		if item.Get(key) == nil {
			r.Errorf(item.Pos, "%s needs %s: it names one act of the tools that do it", item.Path, key)
		}
	}
	toSomebody := m.Act == warrant.Send || m.Act == warrant.Pay
	switch {
	case toSomebody && len(m.Aims) == 0:
		r.Errorf(item.Pos, "%s needs aims: whom it is for is written down, each of them to the letter", item.Path)
	case len(m.Aims)+len(m.Objects) == 0:
		r.Errorf(item.Pos, "%s needs aims or objects: what it is done to is written down, each to the letter", item.Path)
	case m.Act == warrant.Pay && len(m.UpTo) == 0:
		r.Hintf(item.Pos, "upTo: {amount: 100}", "%s needs upTo: the parameter of the sum, and the most that it may be", item.Path)
	}
	if item.Get("calls") == nil && m.Act == warrant.Pay {
		m.Calls = 1
	}
}

// givenAct reads what is done.
func (r *reader) givenAct(n *configfile.Node) warrant.Deed {
	var names []string
	for _, d := range given.Acts() {
		names = append(names, d.String())
	}
	for _, d := range warrant.Deeds() {
		if n.Text == d.String() && !slices.Contains(names, n.Text) {
			const each = "%s: %s is asked about each time: it cannot be taken back, or nobody can read it before it runs"
			r.Errorf(n.Pos, each, n.Path, n.Text)
			return warrant.Unknown
		}
	}
	if i, ok := r.Choice(n, names...); ok {
		return given.Acts()[i]
	}
	return warrant.Unknown
}

// givenTools reads tools by their names.
func (r *reader) givenTools(n *configfile.Node) []string {
	var out []string
	for _, item := range r.Texts(n) {
		name := tool.Name(item.Text)
		if glob.Has(name) {
			r.Errorf(item.Pos, "%s is a pattern: a mandate that holds for good names its tools", item.Path)
		}
		r.named[name] = true
		r.slips = append(r.slips, func() { r.slip(item.Pos, item.Path, name) })
		out = append(out, name)
	}
	return out
}

// literals reads values that stand in a call to the letter.
func (r *reader) literals(n *configfile.Node) []string {
	var out []string
	for _, item := range r.Texts(n) {
		switch {
		case glob.Has(item.Text):
			r.Errorf(item.Pos, "%s looks like a pattern: what holds for good is written down value by value", item.Path)
		case signs.Visible(item.Text) != item.Text || strings.TrimSpace(item.Text) != item.Text || signs.Mixed(item.Text):
			r.Errorf(item.Pos, "%s has signs that cannot be seen, or letters that look like others", item.Path)
		}
		out = append(out, item.Text)
	}
	if len(out) > maxLiterals {
		r.Errorf(n.Pos, "%s has more than %d values", n.Path, maxLiterals)
	}
	return out
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
	words := append([]string{"off"}, modeWords[1:]...)
	if i, ok := r.Word(n, words, formerModes...); ok {
		r.trifecta = entry{effect: looser[i], shows: words[i] == "deny"}
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
