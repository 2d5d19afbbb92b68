package policy_test

import (
	"testing"

	"github.com/tidemark/tidemark/trust"
)

// PRV-05: the fourteen rows of the seed's channel table; PRV-04: the rule of each.
func TestClassifyTheChannelTable(t *testing.T) {
	s := classic()
	for _, tt := range []struct {
		name string
		from trust.Sender
		want trust.Level
		rule string
	}{
		{"Discord DM, owner", trust.Sender{Provider: "discord", ID: "1", IsOwner: true}, trust.Owner, "owner-dm"},
		{"Discord DM, someone else", trust.Sender{Provider: "discord", ID: "2"}, trust.External, "known-sender"},
		{"Discord server channel, owner", trust.Sender{Provider: "discord", ID: "1", IsOwner: true, Group: "general"}, trust.Shared, "owner-group"},
		{"Discord server channel, someone else", trust.Sender{Provider: "discord", ID: "2", Group: "general"}, trust.External, "known-sender"},
		{"Slack DM, owner", trust.Sender{Provider: "slack", ID: "U1", IsOwner: true}, trust.Owner, "owner-dm"},
		{"Slack channel, owner", trust.Sender{Provider: "slack", ID: "U1", IsOwner: true, Group: "eng"}, trust.Shared, "owner-group"},
		{"Slack channel, someone else", trust.Sender{Provider: "slack", ID: "U2", Group: "eng"}, trust.External, "known-sender"},
		{"Telegram DM, owner", trust.Sender{Provider: "telegram", ID: "7", IsOwner: true}, trust.Owner, "owner-dm"},
		{"Telegram group, owner", trust.Sender{Provider: "telegram", ID: "7", IsOwner: true, Group: "g"}, trust.Shared, "owner-group"},
		{"Telegram group, someone else", trust.Sender{Provider: "telegram", ID: "8", Group: "g"}, trust.External, "known-sender"},
		{"Signal DM, owner", trust.Sender{Provider: "signal", ID: "+1", IsOwner: true}, trust.Owner, "owner-dm"},
		{"cron job", trust.Sender{}, trust.System, "no-message-provider"},
		{"heartbeat", trust.Sender{ID: "heartbeat"}, trust.System, "no-message-provider"},
		{"sub-agent", trust.Sender{Provider: "discord", SpawnedBy: "parent"}, trust.Local, "spawned"},
		{"webhook", trust.Sender{Provider: "webhook"}, trust.Untrusted, "unknown-sender"},
		{"sub-agent of a cron job", trust.Sender{SpawnedBy: "parent"}, trust.Local, "spawned"},
		{"sub-agent that claims the owner", trust.Sender{Provider: "slack", SpawnedBy: "parent", IsOwner: true}, trust.Local, "spawned"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, rule := s.Classify(tt.from); got != tt.want || rule != tt.rule {
				t.Errorf("got %s by %s, want %s by %s", got, rule, tt.want, tt.rule)
			}
		})
	}
}

// PRV-06
func TestClassifyWithoutSenderMetadata(t *testing.T) {
	for _, from := range []trust.Sender{{Unknown: true}, {Unknown: true, Provider: "slack", IsOwner: true}} {
		if got, rule := classic().Classify(from); got != trust.Untrusted || rule != "without-sender-metadata" {
			t.Errorf("got %s by %s, want untrusted", got, rule)
		}
		s := mustParse(t, "classification: {withoutSenderMetadata: owner}")
		if got, _ := s.Classify(from); got != trust.Owner {
			t.Errorf("got %s, want owner as configured", got)
		}
	}
}
