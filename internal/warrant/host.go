package warrant

import (
	"github.com/tidemark/tidemark/internal/warrant/shell"
	"strings"

	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
	"github.com/tidemark/tidemark/tool"
)

// The workspace is what the host's own tools work on. Which those are is the door's to say, and
// nobody else's: a tool of somebody's server may be called anything. Where no door says it,
// there is no workspace.

// host is what doors have said of whose tools are the host's own.
type host struct {
	named    map[string]bool // by their names
	declared map[string]bool // with a definition, which goes before
}

func (h *host) owns(name string) bool {
	if own, said := h.declared[name]; said {
		return own
	}
	return h.named[name]
}

// declare notes what stands beside a definition; nil: nothing.
func (h *host) declare(name string, own *bool) {
	if own == nil {
		return
	}
	if h.declared == nil {
		h.declared = map[string]bool{}
	}
	h.declared[name] = *own
}

func (h *host) names(list []string) {
	h.named = make(map[string]bool, len(list))
	for _, n := range list {
		h.named[tool.Name(n)] = true
	}
}

// Host tells which tools are the host's own, by the names they are called with.
func (c *Context) Host(names []string) { c.host.names(names) }

// Control tells by which tools the host's framework steers itself, by the names they are called with: plans, to-dos,
// hand-offs, the final answer, asking the user. Only the door knows that; no name tells it.
func (c *Context) Control(names []string) {
	c.control = make(map[string]bool, len(names))
	for _, n := range names {
		c.control[tool.Name(n)] = true
	}
}

// noAct judges a call that is no act: the agent's answer, or one by which the host steers itself. It reports whether it is one.
func (j *judging) noAct(values []arguments.Leaf) bool {
	switch {
	case j.m.Tool == Answer:
		j.shows(values)
	case j.c.control[j.m.Tool]:
		j.steers(values)
	default:
		return false
	}
	return true
}

// steers judges a call by which the host steers itself. It is neither an act nor a read: what it carries to another
// agent is judged there. But who shows an answer may open what it points to, and who is handed a task goes where it
// says: addresses in it are such as may be gone to.
func (j *judging) steers(values []arguments.Leaf) {
	j.w.Deed = Read
	j.openable(values)
	j.w.add(Act, "", j.m.Tool, Said, "a tool of the host's own workings; it reaches nobody")
}

// openable judges the addresses in texts that somebody is shown, or works by.
func (j *judging) openable(values []arguments.Leaf) {
	for i := range values {
		l := &values[i]
		if !j.c.argued || !l.Quoted {
			continue
		}
		valueindex.EachTarget([]byte(l.Text), func(p valueindex.Part) bool {
			if p.Kind != valueindex.URL {
				return true
			}
			e, why := j.c.address(p.Text)
			if e < Followed {
				j.w.add(Cargo, l.Path, p.Text, e, why)
			}
			return e >= Followed
		})
	}
}

// Answer is the tool of an address in the agent's answer, which whoever shows the answer fetches or makes a link of. Nobody is
// offered it: a door that sees answers asks about each address as if it were called, as AsImage or AsLink.
const (
	Answer  = "tidemark_answer"
	AsImage = "image" // fetched without a click
	AsLink  = "link"
)

// shows judges an address in an answer. It reaches the host that it names, with whatever is in it.
func (j *judging) shows(values []arguments.Leaf) {
	j.w.Deed = Read
	for i := range values {
		l := &values[i]
		e, why := j.c.shownAs(l.Text, l.Path != AsLink)
		if !j.c.argued {
			e, why = Said, "nobody but you has said anything"
		}
		j.w.add(Cargo, l.Path, l.Text, e, why)
	}
	j.w.add(Act, "", j.m.Tool, Said, "the answer is for you")
}

// shownAs is the evidence for an address that an answer shows: it stands, letter for letter, in the user's words or in what was read,
// so that nothing of the agent's is in it. A link may also lead to a host the user named, in words of theirs.
func (c *Context) shownAs(v string, image bool) (Evidence, string) {
	if to, mail := strings.CutPrefix(v, "mailto:"); mail && !image && !strings.ContainsAny(to, "?&%") {
		v = to
	} else if !webbed(v) {
		return Nothing, "no address of the web"
	}
	never := func(uint64) bool { return false }
	switch {
	case c.index.Written(v, never):
		return Said, "you said it"
	case private(strings.TrimPrefix(v, "//")):
		if image || strings.ContainsAny(v, "?#;%\\") {
			return Nothing, "an address inside your network"
		}
		return Followed, "an address that leads nowhere outside"
	case !c.composed[valueindex.Normal(v)] && c.index.Written(v, c.source):
		return Followed, "it stands so in what was read"
	case !image && !strings.ContainsAny(v, "?&=;%#@\\") && c.index.SaidHost(v) && (c.saidRest(v) || c.ofWords(v)):
		return Said, "you named the host"
	}
	return Nothing, "it stands neither in your words nor in what was read"
}

// webbed reports whether an address has a scheme of the web, or none.
func webbed(v string) bool {
	scheme, rest, ok := strings.Cut(v, ":")
	if !ok || strings.ContainsAny(scheme, "./") {
		return true // a host, with a port perhaps
	}
	return (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http")) && strings.HasPrefix(rest, "//")
}

// source reports whether what a step brought is somebody's: what the agent runs says what the agent has it say.
func (c *Context) source(step uint64) bool { return !c.executed[step] }

// composes notes the addresses that a call carries and nobody gave the agent: what comes back with them in it is no source of them.
// An address that was asked for is one that was judged.
func (c *Context) composes(m *toolinfo.Meaning, values []arguments.Leaf, step uint64) {
	if tool.IsShell(m.Tool) || m.Act == toolinfo.Execute {
		c.executed[step] = true
	}
	for i := range values {
		l := &values[i]
		if !l.Quoted || m.Act == toolinfo.Read && isHost(l.Text) || !strings.Contains(l.Text, ".") {
			continue
		}
		valueindex.EachTarget([]byte(l.Text), func(p valueindex.Part) bool {
			if !c.index.Written(p.Text, c.source) {
				keep(c.composed, p.Text, 1)
			}
			return true
		})
	}
}

// workspace reports whether a tool is the host's own and works on this machine.
func (c *Context) workspace(m *toolinfo.Meaning) bool {
	return c.host.owns(m.Tool) && tool.IsHost(m.Tool)
}

// Hosted are the tools of a list that are the host's own, where some are so by their names.
func Hosted(names []string, list []tool.Definition) map[string]bool {
	var h host
	h.names(names)
	own := map[string]bool{}
	for _, d := range list {
		name := tool.Name(d.Name)
		if h.declare(name, d.Host); h.owns(name) {
			own[name] = true
		}
	}
	return own
}

var summaries = list("summaries")

// sums reports whether a text is a summary that the owner asked for, and that stays where it is: what it sums up stands in it. No codes
// do, since whoever writes what is summed up chooses them.
func (j *judging) sums(l *arguments.Leaf) bool {
	if j.w.Deed != Tidy || !anyOf(arguments.NameWords(l.Path), summaries) || !j.c.says(summaries) {
		return false
	}
	for _, word := range strings.Fields(l.Text) {
		v := strings.Trim(word, ".,;:!?()[]\"'`*")
		if isCode(v) && !j.c.index.Said(v) && !j.c.isOwn(v) {
			j.w.add(Cargo, l.Path, v, Nothing, "a code in a summary: it comes from the summarised text")
		}
	}
	return true
}

// Watch tells where what watches the agent stands; nil changes nothing.
func (c *Context) Watch(s *shell.Station) {
	if s == nil || s == c.station {
		return
	}
	c.station = s
	c.reader().Watch(*s)
}

// Works tells in which folder the call at hand works; "": nobody says.
func (c *Context) Works(folder string) { c.reader().Works(folder) }

// reader reads commands, and knows what they must not touch.
func (c *Context) reader() *shell.Reader {
	if c.shell == nil {
		c.shell = shell.NewReader()
		c.shell.Remember(&c.past)
	}
	return c.shell
}

// overseen judges a value of any tool that is a file or an address of what watches the
// agent, and what is typed into a shell; false: it is neither.
func (j *judging) overseen(l *arguments.Leaf) bool {
	switch {
	case !l.Quoted || l.Later:
	case j.tool().param(l.Path).typed:
		j.command(l)
		return true
	case j.c.reader().Touches(l.Text, j.tool().takesAll) && !j.c.index.Said(l.Text):
		j.bad(true, "it touches what watches the agent", l.Path, l.Text)
		return true
	}
	return false
}
