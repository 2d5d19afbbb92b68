package toolinfo_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/toolinfo"
	"github.com/tidemark/tidemark/tool"
)

// SEQ-02: a model's reading is heard where it makes a tool graver.
func TestAReadingMakesAToolGraver(t *testing.T) {
	d := tool.Definition{Name: "get_report", Schema: []byte(`{"properties":{"name":{"type":"string"},"blurb":{"type":"string"}}}`)}
	if m := toolinfo.Of(d); m.Act != toolinfo.Read || m.Gravity != toolinfo.None || m.Sink {
		t.Fatalf("without a reading: got %+v", m)
	}
	d.Reading = &tool.Reading{Act: "send", Params: map[string]string{"blurb": "target"}}
	m := toolinfo.Of(d)
	if m.Act != toolinfo.Send || m.Gravity != toolinfo.High || m.Bare != toolinfo.High || !m.Sink || !m.Known {
		t.Errorf("got %+v", m)
	}
	for _, p := range m.Params {
		if p.Path == "blurb" && p.Role != toolinfo.Target {
			t.Errorf("got %+v", p)
		}
	}
	d.Reading = &tool.Reading{Act: "read", Leaves: true}
	if m := toolinfo.Of(d); m.Act != toolinfo.Read || m.Gravity != toolinfo.Low {
		t.Errorf("a read with which something leaves: got %+v", m)
	}
	unknown := tool.Definition{Name: "frobnicate"}
	unknown.Reading = &tool.Reading{Act: "pay"}
	if m := toolinfo.Of(unknown); m.Act != toolinfo.Pay || m.Gravity != toolinfo.High {
		t.Errorf("what nothing tells: got %+v", m)
	}
	unknown.Reading = &tool.Reading{Act: "read"}
	if m := toolinfo.Of(unknown); m.Act != toolinfo.Unknown || m.Gravity != toolinfo.High {
		t.Errorf("what nothing tells is not made harmless: got %+v", m)
	}
}

// SEQ-02: only a person, or the host's own table, may make a tool milder.
func TestNoReadingMakesAToolMilder(t *testing.T) {
	acts := []string{"read", "create", "change", "delete", "send", "pay", "execute", "grant", "unknown", "nonsense", ""}
	roles := []string{"target", "object", "command", "credential", "amount", "content", "selector", "control", "nonsense"}
	names := []string{"get_mail", "send_email", "delete_file", "frobnicate", "exec", "create_note", "pay_bill", "share_doc", "search_web"}
	grave := map[toolinfo.Role]bool{toolinfo.Target: true, toolinfo.Command: true, toolinfo.Credential: true}
	mild := func(a toolinfo.Act) bool { return a == toolinfo.Read }
	rapid.Check(t, func(t *rapid.T) {
		d := tool.Definition{
			Name:   rapid.SampledFrom(names).Draw(t, "name"),
			Schema: []byte(`{"properties":{"to":{"type":"string"},"command":{"type":"string"},"password":{"type":"string"},"url":{"type":"string"},"xyzzy":{"type":"string"}}}`),
		}
		before := toolinfo.Of(d)
		d.Reading = &tool.Reading{Act: rapid.SampledFrom(acts).Draw(t, "act"), Leaves: rapid.Bool().Draw(t, "leaves"), Params: map[string]string{}}
		for _, p := range before.Params {
			d.Reading.Params[p.Path] = rapid.SampledFrom(roles).Draw(t, p.Path)
		}
		after := toolinfo.Of(d)
		if after.Gravity > before.Gravity || after.Bare > before.Bare || before.Sink && !after.Sink || before.Source && !after.Source || before.Sensitive && !after.Sensitive {
			t.Fatalf("%s as %+v: from %+v to %+v", d.Name, d.Reading, before, after)
		}
		if !mild(before.Act) && mild(after.Act) {
			t.Fatalf("%s became a read", d.Name)
		}
		for i, p := range after.Params {
			if was := before.Params[i]; grave[was.Role] && p.Role != was.Role || was.Object && !p.Object || was.Decides && !p.Decides || was.Writes && !p.Writes {
				t.Fatalf("%s: from %+v to %+v", d.Name, was, p)
			}
		}
	})
}
