package draw

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/tool"
	"github.com/tidemark/tidemark/trust"
)

// Colours of the ground and of plain text: light, and what replaces them on dark.
const (
	svgDark = `.tm-p{fill:#0f172a}.tm-f{stroke:#334155}.tm-t{fill:#e8edf5}.tm-m{fill:#a3b1c6}.tm-b{fill:#0f172a}`
	svgFont = `ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif`
)

// svg is a picture being written.
type svg struct {
	bytes.Buffer
	p  *plan
	id string // makes ids unique on a page with several pictures

	inPage bool                     // the page has the style, and the boxes are links
	link   func(*graph.Node) string // where a box leads; "" is nowhere
}

// SVG writes the graph as a picture that stands alone: no script, no outside font or
// image. Rows are the turn's stages from top to bottom; the main chain is the left
// lane, calls, decisions and results stand beside it; the gauge on the left is the
// high-water mark. Colours follow the reader's light or dark scheme where style
// sheets are allowed; without them the picture keeps its own light ground.
func SVG(w io.Writer, g *graph.Graph) error { return paint(w, g, &svg{}) }

// InPage writes the same picture for a page of ours whose style sheet has PageStyle: it holds no
// style of its own, and each box leads where link says.
func InPage(w io.Writer, g *graph.Graph, link func(*graph.Node) string) error {
	return paint(w, g, &svg{inPage: true, link: link})
}

// PageStyle is what the style sheet of a page needs for pictures that are InPage.
func PageStyle() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "@media (prefers-color-scheme:dark){%s", svgDark)
	for _, c := range append(append([]colour{}, levelColours[:]...), outcomeColours...) {
		fmt.Fprintf(&b, ".tm-%s{color:%s}", c.name, c.dark)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func paint(w io.Writer, g *graph.Graph, s *svg) error {
	s.p, s.id = layOut(g), "tm-"+tool.DigestOf([]byte(g.SessionKey + "\x00" + g.TurnID)).String()[:8]
	width, height := max(s.p.right+gutter+12, legendWidth), s.p.bottom+48
	s.open(g, width, height)
	s.header(g, width)
	s.gauge()
	for _, r := range s.p.routes(g) {
		s.edge(r)
	}
	s.gap()
	for _, b := range s.p.boxes {
		s.box(b)
	}
	s.legend(s.p.bottom + 14)
	s.WriteString("</g>\n</svg>\n")
	_, err := w.Write(s.Bytes())
	return err
}

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

func (s *svg) open(g *graph.Graph, width, height int) {
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d"`, width, height, width, height)
	role := "img"
	if s.link != nil { // a picture hides the links in it from whoever does not see it
		role = "group"
	}
	s.printf(` role="%s" aria-labelledby="%s-t %s-d">`+"\n", role, s.id, s.id)
	s.printf("<title id=\"%s-t\">Provenance of turn %s</title>\n", s.id, escape(g.TurnID))
	s.printf("<desc id=\"%s-d\">%s</desc>\n", s.id, escape(describe(g)))
	if !s.inPage {
		s.printf("<style>%s</style>\n", bytes.TrimSpace(PageStyle()))
	}
	s.WriteString("<defs>\n")
	for _, c := range append(append([]colour{}, levelColours[:]...), outcomeColours...) {
		s.printf(`<marker id="%s-%s" %s`, s.id, c.name, c.attributes())
		s.WriteString(` viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse"` +
			` orient="auto"><path d="M0 .6 7.4 4 0 7.4z" fill="currentColor"/></marker>` + "\n")
	}
	s.WriteString("</defs>\n")
	s.printf(`<rect class="tm-p tm-f" x=".5" y=".5" width="%d" height="%d" rx="12" fill="#ffffff" stroke="#d8dfe9"/>`+"\n",
		width-1, height-1)
	s.printf("<g font-family=\"%s\" font-size=\"12\">\n", svgFont)
}

// describe says in words what the picture shows, for those who do not see it.
func describe(g *graph.Graph) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. The mark ended at %s.", strings.Join(facts(g), ", "), g.Summary.MaxTaint)
	if from := g.Summary.ExternalSources; len(from) > 0 {
		fmt.Fprintf(&b, " Outside content came from %s.", list(from))
	}
	stopped := 0
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if !n.Blocked || n.Kind != graph.NodeToolCall {
			continue
		}
		if stopped++; stopped <= describeCalls {
			fmt.Fprintf(&b, " %s was stopped at %s: %s.", shorten(title(n), listWidth), n.Trust, n.Outcome())
		}
	}
	if stopped > describeCalls {
		fmt.Fprintf(&b, " %d more calls were stopped.", stopped-describeCalls)
	}
	return b.String()
}

// describeCalls bounds how many stopped calls are told one by one.
const describeCalls = 8

func (s *svg) header(g *graph.Graph, width int) {
	mark := levelColour(g.Summary.MaxTaint)
	pill := 40 + textWidth("mark: "+mark.name, 13)
	room := width - 60 - pill
	s.text(font{20, 650, plain}, 28, 42, room, "Turn "+g.TurnID)
	s.text(font{13, 400, muted}, 28, 66, width-56, strings.Join(facts(g), "  ·  "))
	s.printf(`<g %s><rect x="%d" y="22" width="%d" height="28" rx="14" fill="currentColor"/>`, mark.attributes(), width-28-pill, pill)
	s.printf(`<text class="tm-b" x="%d" y="41" fill="#ffffff" font-size="13" font-weight="600" text-anchor="middle">`, width-28-pill/2)
	s.printf("mark: %s</text></g>\n", mark.name)
}

// gauge is the tide mark: how far trust had fallen at each row.
func (s *svg) gauge() {
	rows := s.p.rows
	if len(rows) == 0 {
		return
	}
	top, end := rows[0].y, rows[len(rows)-1].y+boxHeight
	s.printf(`<clipPath id="%s-g"><rect x="28" y="%d" width="8" height="%d" rx="4"/></clipPath>`+"\n", s.id, top, end-top)
	s.printf(`<g clip-path="url(#%s-g)">`+"\n", s.id)
	var labels bytes.Buffer
	for i := 0; i < len(rows); {
		from, mark := i, rows[i].mark
		for i < len(rows) && rows[i].mark == mark {
			i++
		}
		until := end
		if i < len(rows) {
			until = rows[i].y
		}
		c := levelColour(mark)
		y := rows[from].y
		s.printf(`<rect %s x="28" y="%d" width="8" height="%d" fill="currentColor"/>`+"\n", c.attributes(), y, until-y)
		fmt.Fprintf(&labels, `<text %s x="44" y="%d" font-size="12" font-weight="600" fill="currentColor">%s</text>`+"\n",
			c.attributes(), y+14, c.name)
	}
	s.WriteString("</g>\n")
	s.Write(labels.Bytes())
}

func (s *svg) edge(r route) {
	dash := ""
	if r.dashed {
		dash = ` stroke-dasharray="5 4"`
	}
	width := "1.6"
	if r.bold {
		width = "4"
	}
	s.printf(`<path %s d="%s" fill="none" stroke="currentColor" stroke-width="%s"%s marker-end="url(#%s-%s)"/>`+"\n",
		r.tone.attributes(), r.path, width, dash, s.id, r.tone.name)
}

// gap draws what stands for the rows that were left out, and ties it to the chain.
func (s *svg) gap() {
	for i := range s.p.rows {
		r := &s.p.rows[i]
		if r.more == "" {
			continue
		}
		x, width := s.p.laneX[laneChain], s.p.right-s.p.laneX[laneChain]
		c := levelColour(r.mark)
		s.printf(`<g %s><path d="M%d %dV%dM%d %dV%d" stroke="currentColor" stroke-width="1.6" stroke-dasharray="2 4"/>`, c.attributes(),
			x+boxWidth/2, r.y-stageGap-14, r.y, x+boxWidth/2, r.y+boxHeight, r.y+boxHeight+stageGap+14)
		s.printf(`<rect x="%d" y="%d" width="%d" height="%d" rx="8" fill="currentColor" fill-opacity=".07"`, x, r.y, width, boxHeight)
		s.WriteString(` stroke="currentColor" stroke-dasharray="2 4"/></g>` + "\n")
		s.printf(`<text class="tm-t" x="%d" y="%d" fill="#0f172a" font-size="14" font-weight="600" text-anchor="middle">%s</text>`+"\n",
			x+width/2, r.y+28, escape(r.more))
	}
}

// font is how a text looks; ink is one of those below.
type font struct {
	size, weight int
	ink          ink
}

// ink is a class for dark grounds, if any, and a colour for light ones.
type ink struct{ class, fill string }

var (
	plain    = ink{` class="tm-t"`, "#0f172a"}
	muted    = ink{` class="tm-m"`, "#475569"}
	coloured = ink{"", "currentColor"} // as what is around it
)

// text writes cleaned, escaped text cut to a width in pixels.
func (s *svg) text(f font, x, y, width int, text string) {
	s.printf(`<text%s x="%d" y="%d" fill="%s" font-size="%d" font-weight="%d">%s</text>`+"\n",
		f.ink.class, x, y, f.ink.fill, f.size, f.weight, escape(fit(text, width, f.size)))
}

// escape is cleaned text as XML character data or attribute value.
func escape(s string) string { return xmlEscape.Replace(clean(s)) }

var xmlEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// textWidth estimates how wide text will be in pixels; no font is at hand, so it is
// generous.
func textWidth(s string, size int) int {
	hundredths := 0
	for _, r := range s {
		hundredths += runeWidth(r)
	}
	return hundredths * size / 100
}

// runeWidth is in hundredths of the font size.
func runeWidth(r rune) int {
	switch {
	case strings.ContainsRune("ijl.,:;|!'()[]", r):
		return 30
	case strings.ContainsRune("mw@…", r) || r >= 'A' && r <= 'Z':
		return 72
	case lipgloss.Width(string(r)) > 1:
		return 105
	default:
		return 55
	}
}

// fit cleans text and shortens it to an estimated width in pixels.
func fit(s string, width, size int) string {
	s = clean(s)
	used, end := 0, 0
	for i, r := range s {
		if used += runeWidth(r); used*size <= (width-size)*100 {
			end = i + utf8.RuneLen(r) // an ellipsis would still fit behind it
		}
		if used*size > width*100 {
			return strings.TrimRight(s[:end], " ") + "…"
		}
	}
	return s
}

// legendWidth is the least width of a picture: its legend must fit.
const legendWidth = 975

func (s *svg) legend(y int) {
	x := 28
	for _, l := range trust.Levels() {
		c := levelColour(l)
		s.printf(`<rect %s x="%d" y="%d" width="12" height="12" rx="3" fill="currentColor"/>`+"\n", c.attributes(), x, y)
		x = s.legendText(x, y, c.name)
	}
	x += 18
	for _, name := range []string{"taint-escalation", "danger", "confirm", "deny", "approved", "reset"} {
		c := outcomeColour(name)
		s.printf(`<path %s d="M%d %dh6l4 6l-4 6h-6l-4 -6z" fill="currentColor" fill-opacity=".15"`, c.attributes(), x+3, y)
		s.WriteString(` stroke="currentColor" stroke-width="1.4"/>` + "\n")
		x = s.legendText(x, y, name)
	}
}

// legendText writes a word beside its sign and returns where the next sign goes.
func (s *svg) legendText(x, y int, word string) int {
	s.text(font{12, 400, muted}, x+18, y+10, 120, word)
	return x + 36 + textWidth(word, 12)
}
