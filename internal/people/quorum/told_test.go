package quorum_test

import (
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/people/quorum"
)

// A channel is told what everybody sees who reads it, and a browser what its person sees; who is not named sees nothing once
// the file says of anybody what they see.
func TestChannelsAndBrowsersAreToldWhatIsSeen(t *testing.T) {
	limited := &quorum.Rules{People: []quorum.Person{
		{Name: "ana", Accounts: []string{"approver:ana", "slack:UANA", "ntfy:phone"}, Sees: []string{"*@ana-laptop", "shared"}},
		{Name: "ben", Accounts: []string{"approver:ben", "slack:UBEN"}, Sees: []string{"*@ben-laptop", "shared"}},
		{Name: "cy", Accounts: []string{"approver:cy", "discord:CY"}},
	}}
	open := &quorum.Rules{People: []quorum.Person{{Name: "ana", Accounts: []string{"approver:ana", "slack:UANA"}}}}
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	about := func(agent string) engine.QuestionInfo {
		return engine.QuestionInfo{Agent: agent, Tool: "send_email", Asked: now, Now: now}
	}
	for _, c := range []struct {
		rules          *quorum.Rules
		channel, agent string
		want           bool
	}{
		{limited, "slack", "claude@ana-laptop", false}, // ben reads it too
		{limited, "slack", "shared", true},
		{limited, "ntfy", "claude@ana-laptop", true},
		{limited, "ntfy", "claude@ben-laptop", false},
		{limited, "ntfy", "", false},
		{limited, "discord", "shared", false}, // cy sees nothing
		{limited, "webhook", "shared", false}, // nobody is known to read it
		{limited, "sla", "shared", false},
		{open, "slack", "claude@ben-laptop", true},
		{open, "slack", "", true},
	} {
		if got, _ := c.rules.Pushed(about(c.agent), c.channel); got != c.want {
			t.Errorf("%s is told of %q: %v, want %v", c.channel, c.agent, got, c.want)
		}
	}
	for account, want := range map[string]bool{
		"approver:ana": true, "approver:ben": false, "approver:cy": false, "approver:nobody": false, "admin:root": true, "administrator:x": false,
	} {
		if got, _ := limited.Reaches(about("claude@ana-laptop"), account); got != want {
			t.Errorf("a browser of %s is told: %v, want %v", account, got, want)
		}
	}
}
