package tidemark_test

import (
	"testing"

	"github.com/tidemark/tidemark/policy"
)

// BEY-05
func TestACandidatePolicyIsRecordedAndNeverActs(t *testing.T) {
	w := newWorld(t, "")
	w.SetShadow(parse(t, "rules: [{name: never, tools: [exec], effect: deny}]\npreset: permissive"))
	w.ownerSays("s", "go")
	w.want(policy.Allow, main("s"), call("exec", `{}`))
	w.taints("s")
	w.want(policy.Confirm, main("s"), call("cron", `{}`))
	e := w.events("s")
	var got []string
	for _, ev := range e {
		if d := ev.Decided; d != nil {
			if d.Shadow == nil || d.Shadow.Policy == d.Policy {
				t.Fatalf("%s: no answer of the candidate: %+v", d.Tool, d.Shadow)
			}
			got = append(got, d.Tool+" "+d.Effect+"/"+d.Shadow.Effect)
		}
	}
	want := []string{"exec allow/deny", "web_fetch allow/allow", "cron confirm/confirm"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %v, want %v", got, want)
			break
		}
	}
	w.SetShadow(nil)
	w.want(policy.Confirm, main("s"), call("cron", `{"x":1}`))
	e = w.events("s")
	if e[len(e)-1].Decided.Shadow != nil {
		t.Error("a candidate that was taken away still answers")
	}
}
