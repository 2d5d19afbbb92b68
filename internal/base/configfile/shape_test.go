package configfile_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

func TestAShapeIsWhatAReaderAsksFor(t *testing.T) {
	shape := configfile.Take(func(root *configfile.Node) {
		var d configfile.Decoder
		d.Fields(root, map[string]func(*configfile.Node){
			"text":  func(n *configfile.Node) { d.Text(n) },
			"flag":  func(n *configfile.Node) { d.Bool(n) },
			"count": func(n *configfile.Node) { d.Int(n, 1, 10) },
			"part":  func(n *configfile.Node) { d.Number(n, 0, 1) },
			"pick":  func(n *configfile.Node) { d.Choice(n, "red", "blue") },
			"list":  func(n *configfile.Node) { d.Texts(n) },
			"free": func(n *configfile.Node) {
				for _, k := range d.Entries(n) {
					d.Bool(k.Value)
				}
			},
			"several": func(n *configfile.Node) {
				for _, item := range d.Items(n) {
					d.Fields(item, map[string]func(*configfile.Node){"name": func(n *configfile.Node) { d.Text(n) }})
				}
			},
			"either": func(n *configfile.Node) {
				d.Accepts(n, configfile.Int)
				d.Text(n)
			},
			"whatever": func(*configfile.Node) {},
		})
		d.Text(root.Get("seen first"))
	})
	got, err := json.Marshal(shape.Schema())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"additionalProperties":false,"properties":{` +
		`"count":{"maximum":10,"minimum":1,"type":"integer"},"either":{"type":["integer","string"]},"flag":{"type":"boolean"},` +
		`"free":{"additionalProperties":{"type":"boolean"},"type":["object","null"]},"list":{"items":{"type":"string"},"type":["array","string"]},` +
		`"part":{"maximum":1,"minimum":0,"type":"number"},"pick":{"enum":["red","blue"],"type":"string"},"seen first":{"type":"string"},` +
		`"several":{"items":{"additionalProperties":false,"properties":{"name":{"type":"string"}},"type":["object","null"]},"type":"array"},` +
		`"text":{"type":"string"},"whatever":{}},"type":["object","null"]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAReaderThatNeverEndsHasAnEnd(t *testing.T) {
	var nest func(d *configfile.Decoder, n *configfile.Node)
	nest = func(d *configfile.Decoder, n *configfile.Node) {
		d.Fields(n, map[string]func(*configfile.Node){"inner": func(n *configfile.Node) { nest(d, n) }})
	}
	shape := configfile.Take(func(root *configfile.Node) { nest(&configfile.Decoder{}, root) })
	if len(shape.Schema()) == 0 {
		t.Error("nothing was asked for")
	}
}
