package draw_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/draw"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/trust"
)

// picture is what a parser sees of an SVG.
type picture struct {
	text     string
	titles   []string
	elements map[string]int
}

// parseSVG reads the whole document and refuses everything a self-contained picture
// has no use for: scripts, handlers, references to elsewhere, two elements of one id.
func parseSVG(t testing.TB, body []byte) picture {
	t.Helper()
	p := picture{elements: map[string]int{}}
	known := " svg title desc style defs marker clipPath path rect g text tspan "
	ids := map[string]bool{}
	var open []string
	var text strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(body)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("parse SVG: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			p.elements[name]++
			open = append(open, name)
			if !strings.Contains(known, " "+name+" ") {
				t.Errorf("the picture holds a <%s>", name)
			}
			for _, a := range token.Attr {
				checkAttribute(t, name, a, ids)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 && open[len(open)-1] == "title" {
				p.titles = append(p.titles, string(token))
			}
			text.Write(token)
		case xml.Comment, xml.ProcInst, xml.Directive:
			t.Errorf("the picture holds %v", token)
		}
	}
	p.text = text.String()
	return p
}

func checkAttribute(t testing.TB, element string, a xml.Attr, ids map[string]bool) {
	t.Helper()
	name := a.Name.Local
	if strings.HasPrefix(name, "on") || name == "href" || name == "style" || name == "src" {
		t.Errorf("<%s> has the attribute %s", element, name)
	}
	if name == "id" {
		if ids[a.Value] {
			t.Errorf("two elements have the id %q", a.Value)
		}
		ids[a.Value] = true
	}
	if strings.Contains(a.Value, "url(") && !strings.HasPrefix(a.Value, "url(#tm-") {
		t.Errorf("<%s %s=%q> refers to elsewhere", element, name, a.Value)
	}
}

func svgOf(t testing.TB, g *graph.Graph) (picture, []byte) {
	t.Helper()
	var out bytes.Buffer
	if err := draw.SVG(&out, g); err != nil {
		t.Fatal(err)
	}
	return parseSVG(t, out.Bytes()), out.Bytes()
}

// PRV-09 SEQ-04
func TestSVGShowsEveryNodeAndOutcome(t *testing.T) {
	g := richTurn(t)
	p, body := svgOf(t, g)
	if got, want := len(p.titles), len(g.Nodes)+1; got != want {
		t.Errorf("titles = %d, want one per node and one for the picture: %d", got, want)
	}
	for _, want := range []string{"taint-escalation", "deny", "confirm", "approved", "trust reset", "wrong code", "BLOCKED", "result of vestige_search",
		"message was stopped at external: taint-escalation", "mark: owner", "from booking-agent"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
	for _, want := range []string{`role="img"`, `aria-labelledby=`, `prefers-color-scheme:dark`} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("the picture lacks %s", want)
		}
	}
}

func TestSVGOfALongTurnSaysWhatItLeavesOut(t *testing.T) {
	g := longTurn(t, 1500)
	if len(g.Nodes) < 5000 {
		t.Fatalf("nodes = %d, want a turn of at least 5000", len(g.Nodes))
	}
	p, body := svgOf(t, g)
	if len(body) > 300_000 {
		t.Errorf("picture of %d nodes takes %d bytes, want at most 300000", len(g.Nodes), len(body))
	}
	shown := len(p.titles) - 1
	blockedShown := strings.Count(p.text, "BLOCKED")
	want := fmt.Sprintf("… %d more nodes, %d blocked", len(g.Nodes)-shown, 500-blockedShown)
	if !strings.Contains(p.text, want) {
		t.Errorf("the picture shows %d nodes and does not say %q", shown, want)
	}
	if !strings.Contains(p.text, "more calls were stopped") {
		t.Error("the description does not say that more calls were stopped")
	}
	if !strings.Contains(p.text, "output") || !strings.Contains(p.text, "input") {
		t.Error("beginning or end of the turn is missing")
	}
}

func TestSVGKeepsSixtyNodesWhole(t *testing.T) {
	g := longTurn(t, 13)
	p, _ := svgOf(t, g)
	if len(g.Nodes) < 55 || len(g.Nodes) > 65 {
		t.Fatalf("nodes = %d, want about sixty", len(g.Nodes))
	}
	if strings.Contains(p.text, "more nodes") || len(p.titles) != len(g.Nodes)+1 {
		t.Errorf("%d of %d nodes are shown, want all", len(p.titles)-1, len(g.Nodes))
	}
}

// Nothing may stand on top of another thing: boxes of one picture never overlap.
func TestSVGBoxesDoNotOverlap(t *testing.T) {
	for name, g := range map[string]*graph.Graph{"seed": seedTurn(t), "rich": richTurn(t), "hook": hookTurn(t), "long": longTurn(t, 40), "census": wideTurn(t)} {
		_, body := svgOf(t, g)
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(`<path class="tm-p" d="(M\d+ \d+)`).FindAllStringSubmatch(string(body), -1) {
			if seen[m[1]] {
				t.Errorf("%s: two boxes start at %s", name, m[1])
			}
			seen[m[1]] = true
		}
	}
}

// wideTurn starts with more context than fits into a row.
func wideTurn(t testing.TB) *graph.Graph {
	u := newTurn(t, trust.Owner, "長い言葉、とても長い言葉、もっと長い言葉")
	var items []event.Item
	for i := range 9 {
		items = append(items, event.Item{Kind: "tool_result", Tool: fmt.Sprintf("tool_%d", i), Trust: trust.Local})
	}
	u.add(event.Event{Kind: event.ContextSeen, Seen: &event.Seen{Label: label(trust.Local), Census: items}})
	u.model("large-1")
	call := u.call("read", "allow", nil)
	u.result(call, "read", trust.Local, "one")
	u.result(call, "read", trust.Local, "two")
	return u.seal("")
}

func TestColoursAreReadableOnTheirGround(t *testing.T) {
	_, body := svgOf(t, richTurn(t))
	light := regexp.MustCompile(`<marker [^>]*class="tm-([a-z-]+)" color="(#[0-9a-f]{6})"`).FindAllStringSubmatch(string(body), -1)
	dark := regexp.MustCompile(`\.tm-([a-z-]+)\{color:(#[0-9a-f]{6})\}`).FindAllStringSubmatch(string(body), -1)
	if len(light) != 12 || len(dark) != 12 {
		t.Fatalf("colours = %d light, %d dark, want 12 each", len(light), len(dark))
	}
	for _, m := range light {
		if c := contrast(t, m[2], "#ffffff"); c < 4.5 {
			t.Errorf("%s %s on white has a contrast of %.2f, want 4.5", m[1], m[2], c)
		}
	}
	for _, m := range dark {
		if c := contrast(t, m[2], "#0f172a"); c < 4.5 {
			t.Errorf("%s %s on dark has a contrast of %.2f, want 4.5", m[1], m[2], c)
		}
	}
}

// contrast is the ratio of WCAG 2.
func contrast(t testing.TB, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t testing.TB, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
