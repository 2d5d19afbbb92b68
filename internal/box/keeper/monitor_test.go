package keeper_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/keeper"
	"github.com/tidemark/tidemark/internal/test/prooftest"
)

// speaker is a server that says one thing.
func speaker(t *testing.T, status int, says string) (*keeper.Monitor, *[]string) {
	t.Helper()
	var heard []string
	s := httptest.NewServer(prooftest.Handler("token", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		raw, _ := json.Marshal(body)
		heard = append(heard, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(raw))
		w.WriteHeader(status)
		_, _ = w.Write([]byte(says))
	})))
	t.Cleanup(s.Close)
	return &keeper.Monitor{Find: func() (string, string, error) { return s.URL, "token", nil }}, &heard
}

func TestATicketIsRedeemedWithTheMonitor(t *testing.T) {
	m, heard := speaker(t, http.StatusOK, `{"session":"s","call":"c","step":4,"workspace":"/w","settings":{"write":["a"],"read":[],"hide":[],"guard":[],`+
		`"ports":[5432],"hosts":["h.example"],"layer":"caches"},"taint":"untrusted"}`)
	g, err := m.Redeem(t.Context(), keeper.Ticket{Ticket: "t", Command: "h", Process: 7})
	want := keeper.Grant{Session: "s", Call: "c", Step: 4, Workspace: "/w", Taint: "untrusted", Settings: keeper.Settings{
		Write: []string{"a"}, Read: []string{}, Hide: []string{}, Guard: []string{}, Ports: []int{5432}, Hosts: []string{"h.example"}, Layer: "caches",
	}}
	if diff := cmp.Diff(want, g); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if err := m.Ended(t.Context(), keeper.Ended{Ticket: "t", Exit: 3, Report: &box.Report{Unrouted: 2}}); err != nil {
		t.Error(err)
	}
	if got := *heard; got[0] != `POST /v1/box/redeem Bearer token {"command_sha256":"h","pid":7,"ticket":"t"}` ||
		!strings.HasPrefix(got[1], `POST /v1/box/ended Bearer token {"exit":3,"report":{`) {
		t.Error(got)
	}
}

// Whatever is no plain yes is a no.
func TestWhatIsNoYesIsANo(t *testing.T) {
	for says, status := range map[string]int{
		`{"detail":"it was used"}`: http.StatusConflict, `{}`: http.StatusInternalServerError, `not json`: http.StatusOK,
		`{"session":"s","workspace":"/w","settings":{"closes":["more"]}}`: http.StatusOK, `{"session":"s","workspace":"/w"}`: http.StatusOK,
		"": http.StatusFound,
	} {
		m, _ := speaker(t, status, says)
		g, err := m.Redeem(t.Context(), keeper.Ticket{Ticket: "t"})
		var no *keeper.Refusal
		if err == nil || g.Session != "" || errors.As(err, &no) != (status == http.StatusConflict) {
			t.Errorf("%s: %+v %v", says, g, err)
		}
	}
	stranger := &keeper.Monitor{Find: func() (string, string, error) {
		s := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(s.Close)
		return s.URL, "token", nil
	}}
	if _, err := stranger.Redeem(t.Context(), keeper.Ticket{Ticket: "t"}); err == nil {
		t.Error("something that is not the server was believed")
	}
}
