package policy

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/redact"
	"github.com/tidemark/tidemark/trust"
)

// Asking is how held and suspicious calls are handled: which results are followed by an
// audit, and what becomes of the auditor's answers.
type Asking struct {
	Window   string // how long a cautioned result is followed by audits: last, turn, session (CAU-02)
	FailMode string // of the caution audit: block, warn, allow (CAU-05)
	OnBlock  Effect // a call the auditor blocks: Confirm, the owner can override it; Deny, nobody can
	// Review is who is heard about what taint or danger holds: human; advise, auto (SEQ-06); bound, a model that sees no
	// value and is asked about acts alone.
	Review    string
	Task      bool   // constraints are drawn up for each task (SEQ-11)
	OnOutside Effect // a call outside its task: Confirm or Deny
	MaxOpen   int    // questions of a session that may wait for an answer
	// Answers is how the addresses in the agent's answers are judged once others have spoken, by how the host shows them: markdown
	// (the default), text, where code leads somewhere too, or off. AnswerHosts are hosts that they may lead to whatever is in them,
	// with spaces between.
	Answers, AnswerHosts string
}

// Answers is how addresses in answers are judged; empty: they are not, because nobody follows where values came from, or wants it so.
func (s *Set) Answers() string {
	if !s.asksFacts || s.settings.Answers == "off" {
		return ""
	}
	return cmp.Or(s.settings.Answers, "markdown")
}

// AnswersTo reports whether an answer may hold any address of the host that this one leads to.
func (s *Set) AnswersTo(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || strings.Contains(address, `\`) {
		return false
	}
	return u.Host != "" && hasWord(s.settings.AnswerHosts, strings.ToLower(u.Host))
}

func defaultAsking() Asking {
	return Asking{
		Window: "turn", FailMode: "block", OnBlock: Confirm, Review: "bound", OnOutside: Confirm, MaxOpen: 64, Answers: "markdown",
	}
}

// caution is which tools' output is followed by an audit.
type caution struct {
	off   bool // defaults: false
	tools map[string]bool
}

// of says whether the tool is cautioned, and whether the file says so itself: then what
// the tool declares of itself does not count (CAU-08).
func (c *caution) of(name string, level trust.Level) (on, fixed bool) {
	if v, ok := c.tools[name]; ok {
		return v, true
	}
	switch {
	case c.off:
		return false, false
	case name != "" && hasWord(shippedCautioned, name):
		return true, false
	case name != "" && hasWord(shippedUncautioned, name):
		return false, false
	}
	return level <= trust.External, false
}

func hasWord(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

// readCaution reads which tools are cautioned and what a block means.
func (r *reader) readCaution(n *configfile.Node) {
	a := &r.settings.Asking
	r.Fields(n, map[string]func(*configfile.Node){
		"defaults": func(v *configfile.Node) {
			if on, ok := r.Bool(v); ok {
				r.caution.off = !on
			}
		},
		"tools": func(v *configfile.Node) {
			seen := map[string]string{}
			for _, k := range r.Entries(v) {
				if name, ok := r.tool(k, seen); ok {
					r.caution.tools[name], _ = r.Bool(k.Value)
				}
			}
		},
		"window":   r.word(&a.Window, "last", "turn", "session"),
		"failMode": r.failMode(&a.FailMode),
		"effect":   r.closing(&a.OnBlock),
	}, configfile.Former{Name: "onBlock", Now: "effect"})
}

// closing reads what happens to a call that is turned down: ask the owner, or no.
func (r *reader) closing(to *Effect) func(*configfile.Node) {
	return func(n *configfile.Node) {
		if i, ok := r.Word(n, heldWords, formerModes[:1]...); ok {
			*to = Confirm - Effect(i)
		}
	}
}

// failMode reads what becomes of a call that the auditor did not answer about.
func (r *reader) failMode(to *string) func(*configfile.Node) {
	return func(n *configfile.Node) {
		if i, ok := r.Word(n, []string{"deny", "warn", "allow"}, configfile.Former{Name: "block", Now: "deny"}); ok {
			*to = [...]string{"block", "warn", "allow"}[i]
		}
	}
}

func (r *reader) readTaintEscalation(n *configfile.Node) {
	r.Fields(n, map[string]func(*configfile.Node){
		"review":      r.word(&r.settings.Review, "human", "advise", "auto", "bound"),
		"answers":     r.word(&r.settings.Answers, "markdown", "text", "off"),
		"answerHosts": r.readAnswerHosts,
	})
}

// readAnswerHosts reads names of hosts, each as it stands in an address.
func (r *reader) readAnswerHosts(n *configfile.Node) {
	var hosts []string
	for _, item := range r.Texts(n) {
		host := strings.ToLower(item.Text)
		if u, err := url.Parse("https://" + host + "/"); err != nil || u.Host != host || !strings.Contains(host, ".") {
			r.Errorf(item.Pos, "%s must be the name of a host, such as img.example.com, not %q", item.Path, item.Text)
			continue
		}
		hosts = append(hosts, host)
	}
	r.settings.AnswerHosts = strings.Join(hosts, " ")
}

func (r *reader) readTaskPolicy(n *configfile.Node) {
	r.Fields(n, map[string]func(*configfile.Node){
		"enabled": r.flag(&r.settings.Task),
		"effect":  r.closing(&r.settings.OnOutside),
	})
}

// readRedaction reads what is removed besides the shipped rules.
func (r *reader) readRedaction(n *configfile.Node) {
	r.Fields(n, map[string]func(*configfile.Node){
		"fields": func(v *configfile.Node) {
			for _, item := range r.Items(v) {
				var f redact.FieldRule
				r.Fields(item, map[string]func(*configfile.Node){
					"tools":  func(v *configfile.Node) { f.Tools = r.words(v) },
					"fields": func(v *configfile.Node) { f.Fields = r.words(v) },
					"sized":  func(v *configfile.Node) { f.Sized, _ = r.Bool(v) },
				})
				if len(f.Fields) == 0 {
					r.Errorf(item.Pos, "%s needs fields", item.Path)
				}
				r.redaction.Fields = append(r.redaction.Fields, f)
			}
		},
		"patterns": func(v *configfile.Node) {
			for _, item := range r.Items(v) {
				r.readPattern(item)
			}
		},
	})
}

func (r *reader) readPattern(n *configfile.Node) {
	var p redact.Pattern
	at := n.Pos
	r.Fields(n, map[string]func(*configfile.Node){
		"name":  func(v *configfile.Node) { p.Name, _ = r.Text(v) },
		"regex": func(v *configfile.Node) { p.Expr, _ = r.Text(v); at = v.Pos },
	})
	if p.Name == "" || p.Expr == "" {
		r.Errorf(n.Pos, "%s needs name and regex", n.Path)
		return
	}
	if _, err := redact.Compile(redact.Rules{Patterns: []redact.Pattern{p}}); err != nil {
		r.Errorf(at, "%s: %v", n.Path, err)
		return
	}
	r.redaction.Patterns = append(r.redaction.Patterns, p)
}

func (r *reader) words(n *configfile.Node) []string {
	var out []string
	for _, item := range r.Texts(n) {
		out = append(out, item.Text)
	}
	return out
}

// redactor is the shipped rules and the file's.
func (r *reader) redactor() *redact.Redactor {
	rules := redact.DefaultRules()
	rules.Fields = append(rules.Fields, r.redaction.Fields...)
	rules.Patterns = append(rules.Patterns, r.redaction.Patterns...)
	out, err := redact.Compile(rules)
	if err != nil {
		r.Errorf(r.root.Pos, "redaction: %v", err)
	}
	return out
}
