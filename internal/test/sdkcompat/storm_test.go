//go:build judges

package sdkcompat_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// storm is what the mock does to every request while it lasts, by chance: no answer but an
// error, an answer that is no JSON, a limit, a connection that breaks, and always some time.
const storm = `{"dropRate": 0.2, "malformedRate": 0.2, "rateLimitRate": 0.2, "disconnectRate": 0.2, "latencyMs": 10}`

// weather changes what the mock does to everybody. No body makes it calm.
func weather(t *testing.T, body string) {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodDelete
	}
	req, err := http.NewRequestWithContext(t.Context(), method, panel.other.mock+"/__aimock/chaos", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	if err := resp.Body.Close(); err != nil || resp.StatusCode >= 300 {
		t.Fatalf("weather: got %s, %v", resp.Status, err)
	}
}

// Whatever the upstream does in the middle of many conversations at once: no client hangs, none
// is given a call that was not allowed or one that policy refuses, and when it is over every
// client goes on through the same proxy as if nothing had been.
func TestClientsGoThroughAStormAndOn(t *testing.T) {
	w := newWorld(t, panel.other.mock)
	list := trials("tell-plain", "call-single", "call-three", "say-and-call", "refuse-one", "refuse-some", "refuse-all")
	weather(t, storm)
	var stormy []result
	for _, round := range []string{"storm", "still"} {
		stormy = append(stormy, each(list, func(c trial) result { return c.run(w.base(c.judge.kind), round) })...)
	}
	weather(t, "")
	broken, whole := 0, 0
	for _, r := range stormy {
		wellBehaved(t, r)
		if r.Error != nil {
			broken++
		} else {
			whole++
		}
		for _, c := range r.handed() {
			if c.Name == "wire" {
				t.Errorf("%s: the client was given %s(%s)", r.ID, c.Name, c.Args)
			}
		}
	}
	t.Logf("of %d conversations %d broke", broken+whole, broken)
	if broken == 0 || whole == 0 {
		t.Errorf("%d conversations broke and %d did not: that was no storm", broken, whole)
	}
	w.decidedFirst(t, stormy)
	each(list, func(c trial) bool {
		direct, after := c.run(panel.other.mock, "direct"), c.run(w.base(c.judge.kind), "after")
		switch diff := cmp.Diff(plain(direct), plain(after)); {
		case direct.Error != nil || after.Error != nil:
			t.Errorf("%s: after the storm: %+v, without the proxy %+v", c.name(), after.Error, direct.Error)
		case diff != "" && !strings.HasPrefix(c.prompt, "refuse"):
			t.Errorf("%s: after the storm, without the proxy (-), through it (+):\n%s", c.name(), diff)
		}
		return true
	})
}
