package draw_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/draw"
	"github.com/tidemark/tidemark/internal/graph"
	"github.com/tidemark/tidemark/trust"
)

// CON-19
func TestAPictureInAPageHasNoStyleAndLeadsSomewhere(t *testing.T) {
	var out bytes.Buffer
	link := func(n *graph.Node) string {
		if n.Kind == graph.NodeToolCall {
			return `/console/session?key=a"b&turn=<t>`
		}
		return ""
	}
	if err := draw.InPage(&out, seedTurn(t), link); err != nil {
		t.Fatal(err)
	}
	links := 0
	for d := xml.NewDecoder(&out); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("it is no XML: %v", err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if e.Name.Local == "style" || e.Name.Local == "script" {
			t.Errorf("the picture holds a <%s>", e.Name.Local)
		}
		for _, a := range e.Attr {
			if e.Name.Local == "svg" && a.Name.Local == "role" && a.Value != "group" {
				t.Errorf("its links are hidden behind the role %s", a.Value)
			}
			if a.Name.Local == "href" {
				if links++; a.Value != `/console/session?key=a"b&turn=<t>` {
					t.Errorf("a box leads to %s", a.Value)
				}
			}
		}
	}
	if links == 0 {
		t.Error("no box leads anywhere")
	}
	if style := string(draw.PageStyle()); !strings.Contains(style, ".tm-untrusted{color:") {
		t.Errorf("the page's style is %s", style)
	}
}

// CON-18
func TestMarksDoNotClimb(t *testing.T) {
	u := newTurn(t, trust.Owner, "a"+strings.Repeat("\u0301", 60))
	var tree bytes.Buffer
	if err := draw.Tree(&tree, u.seal("done"), nil); err != nil {
		t.Fatal(err)
	}
	if got := tree.String(); strings.Contains(got, strings.Repeat("\u0301", 3)) || !strings.Contains(got, "\u0301\u0301") {
		t.Errorf("got %q", got)
	}
}
