package policy

import "github.com/tidemark/tidemark/trust"

// Classify is the trust a turn starts with and the row of the table that says so
// (PRV-04). Where two rows fit, the less trusted comes first: what a host without
// sender metadata leaves out means nothing, and a sub-agent without a channel is
// still a sub-agent.
func (s *Set) Classify(from trust.Sender) (trust.Level, string) {
	switch {
	case from.Unknown:
		return s.without, "without-sender-metadata"
	case from.SpawnedBy != "":
		return trust.Local, "spawned"
	case from.Provider == "":
		return trust.System, "no-message-provider"
	case from.IsOwner && from.Group == "":
		return trust.Owner, "owner-dm"
	case from.IsOwner:
		return trust.Shared, "owner-group"
	case from.ID != "":
		return trust.External, "known-sender"
	}
	return trust.Untrusted, "unknown-sender"
}

// SpeaksForSessions reports whether a tool's response may hold what other sessions
// said: then it carries their taint, whatever level the tool itself has (BEY-06).
func SpeaksForSessions(name string) bool {
	switch name {
	case "sessions_spawn", "sessions_send", "sessions_history", "sessions_yield", "subagents",
		"task", "agent", "spawn_agent", "send_message_to_agent", "wait_agent", "delegate_task":
		return true
	}
	return false
}
