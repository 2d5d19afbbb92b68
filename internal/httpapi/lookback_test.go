package httpapi_test

import (
	"net/http"
	"strconv"
	"testing"
)

// CON-31
func TestStepsOfASessionComeInPages(t *testing.T) {
	w := open(t, "")
	w.say("s", "look at the page")
	w.fetch("s")
	all := w.call(readerToken, http.MethodGet, "/v1/sessions/s/steps", "")
	n := len(all.list("steps"))
	if all.status != http.StatusOK || n < 3 {
		t.Fatalf("%d steps: %s", n, all.raw)
	}
	seen, after := 0, "0"
	for range n {
		page := w.call(readerToken, http.MethodGet, "/v1/sessions/s/steps?limit=1&after="+after, "")
		rows := page.list("steps")
		if len(rows) != 1 {
			t.Fatalf("a page of one has %d: %s", len(rows), page.raw)
		}
		seen++
		next, more := page.at("next").(float64)
		if !more {
			break
		}
		after = strconv.Itoa(int(next))
	}
	if seen != n {
		t.Errorf("%d of %d steps were seen", seen, n)
	}
	if a := w.call(readerToken, http.MethodGet, "/v1/sessions/none/steps", ""); a.status != http.StatusNotFound {
		t.Errorf("of nobody: %d", a.status)
	}
}

func TestLookingBackTakesAReader(t *testing.T) {
	w := open(t, "")
	w.say("s", "hello")
	for _, path := range []string{"/v1/sessions/s/steps", "/v1/report", "/v1/report?days=7"} {
		if a := w.call(agentToken, http.MethodGet, path, ""); a.status != http.StatusForbidden {
			t.Errorf("%s for an agent: %d", path, a.status)
		}
		if a := w.call(readerToken, http.MethodGet, path, ""); a.status != http.StatusOK {
			t.Errorf("%s for a reader: %d %s", path, a.status, a.raw)
		}
	}
	if a := w.call(readerToken, http.MethodGet, "/v1/report?days=0", ""); a.status != http.StatusBadRequest {
		t.Errorf("no days: %d", a.status)
	}
}

func TestAServerWithoutAConsoleSaysSo(t *testing.T) {
	w := open(t, "")
	for _, c := range [][2]string{{http.MethodPost, "/v1/console/links"}, {http.MethodGet, "/v1/console/links/x"}} {
		if a := w.call(readerToken, c[0], c[1], ""); a.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", c[1], a.status, a.raw)
		}
		if a := w.call(agentToken, c[0], c[1], ""); a.status != http.StatusForbidden {
			t.Errorf("%s for an agent: %d", c[1], a.status)
		}
	}
}
