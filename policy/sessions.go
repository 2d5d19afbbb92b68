package policy

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
