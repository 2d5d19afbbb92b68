// Package harness knows what agents' programs write into the messages of their users: which words of a
// message or of a prompt somebody typed, and which a tool, another person or a model brought.
package harness

import "slices"

// What harnesses write into user messages, as their published packages hold it. A block is
// named by its tag; "task-notification" is <task-notification …>…</task-notification>. The test
// behind "make harnesses" takes the packages and tells which names are new and which are gone.

// Sort is whose a block in a user's message is. The zero Sort is a stranger's.
type Sort uint8

// The sorts of blocks.
const (
	Others  Sort = iota // what tools, hooks, other sessions and people brought: untrusted
	Own                 // the harness's own words, or a file of the workspace
	Summary             // what a model wrote: an earlier conversation in short
	File                // a file that the user referred to, as if the model had read it
	Report              // what a task of the session's own reports: untrusted, but where the task was followed
	Words               // the user's own words, in a wrapper of the harness's
)

// Block is a tag that harnesses put around something.
type Block struct {
	Agent string // only in this harness's messages; "" in all, because nobody else writes it
	Tag   string
	Sort  Sort
}

// Blocks are the tags that are known. For a known harness a leading tag that is not here is a
// stranger's: what it adds tomorrow is nobody's words until it is named.
func Blocks() []Block {
	var out []Block
	for _, l := range blockLists {
		for _, tag := range l.tags {
			out = append(out, Block{l.agent, tag, l.sort})
		}
	}
	return out
}

type blockList struct {
	agent string
	sort  Sort
	tags  []string
}

var blockLists = []blockList{
	{"", Own, []string{
		"system-reminder", "local-command-caveat", "command-message", "environment_context", "user_instructions", "INSTRUCTIONS",
		"session_context", "environment_details", "new-diagnostics", "user_project_memory", "turn-context",
	}},
	{"", Others, []string{
		"local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr", "teammate-message",
		"cross-session-message", "webhook-payload", "mcp-resource", "mcp-resource-update", "mcp-polling-update", "fetched-web-content",
		"user-prompt-submit-hook", "post-tool-use-hook", "user_shell_command", "agent_message_board_notification",
		"hook_context", "untrusted_context", "background_output", "github_action_context",
	}},
	{"", Report, []string{"task-notification", "subagent_notification"}},
	{"", Summary, []string{
		"conversation_summary", "compaction_summary", "prompt-data", "conversation-checkpoint", "state_snapshot", "SYSTEM_NOTICE",
	}},

	{"claude", Own, []string{
		"command-name", "system_reminder", "bash-exit-code", "tick", "ide_opened_file", "command-contents", "skill-format",
		"message-files-missing", "message-files-moved", "staged-files-missing", "total_tokens",
	}},
	{"claude", Others, []string{
		"channel", "event", "agent-message", "slack-ping", "slack-tag-message", "remote-review", "remote-review-progress",
		"voice-call-talk", "coordinator-relay", "coordinator-task", "fork-boilerplate", "untrusted-widget-state",
		"artifact-file-content", "subagent_hand_back", "terminal", "browser", "mcp-server-note", "wake", "relay",
		"persisted-output", "interrupted-output", "previous-conversation",
	}},
	{"claude", File, []string{"ide_selection"}},
	{"claude", Words, []string{"command-args", "bash-input", "user-memory-input"}},

	{"codex", Own, []string{
		"skill", "turn_aborted", "codex_internal_context", "image", "image_resize_notice", "current_time_reminder", "context_window",
		"context_window_guidance", "context_window_reminder", "heartbeat", "multi_agent_mode", "collaboration_mode", "model_switch",
		"recommended_plugins", "rollout_budget",
	}},
	{"codex", Others, []string{"user_action", "codex_delegation", "realtime_delegation", "untrusted_objective"}},

	{"gemini", Own, []string{"system_note", "activated_skill", "extension_context", "project_context", "global_context", "loaded_context"}},
	{"gemini", Others, []string{"tool_output_masked"}},
	{"gemini", Words, []string{"user_input"}},

	{"opencode", Own, []string{"system-update", "path", "skill_content", "skill_files", "env"}},
	{"opencode", File, []string{"file", "content"}},
	{"opencode", Others, []string{
		"shell_metadata", "issue", "pull_request", "issue_comments", "pull_request_comments", "pull_request_reviews",
	}},

	{"droid", File, []string{"attached-file"}},
	{"droid", Own, []string{"runtime-context", "turn_context", "spec_mode_guidelines", "coding_guidelines"}},
	{"droid", Others, []string{"system-notification", "remote-delegation-instructions", "existing-visual", "previous_report"}},

	{"cline", Own, []string{
		"mode_notice", "command-name", "command-instructions", "skill-root", "discord_message_context",
	}},
	{"cline", File, []string{"file_content"}},
	{"cline", Words, []string{"user_input", "user_command", "command-args", "task", "feedback"}},

	{"copilot", Own, []string{"current_datetime", "reminder", "sql_tables", "available_skills", "environment_info"}},
	{"copilot", Words, []string{"userRequest"}},

	{"openclaw", Others, []string{"active_memory_plugin", "shared_session_history"}},
}

// Known are the marks of the harnesses we know.
func Known() []Marker {
	out := []Marker{
		{Begin: "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", End: "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"},
		{Begin: "\nRuntime: agent="}, // OpenClaw's, below what was said
		{Begin: "<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>", End: "<<<END_UNTRUSTED_CHILD_RESULT>>>", Result: true},
		{Begin: "<<<EXTERNAL_UNTRUSTED_CONTENT", End: "<<<END_EXTERNAL_UNTRUSTED_CONTENT", Result: true},
		{Begin: "This session is being continued from a previous conversation", Summary: true},
		{Begin: "Another language model started to solve this problem", Summary: true},
		{Agent: "claude", Begin: "[SYSTEM NOTIFICATION - NOT USER INPUT]", Result: true},
		{Agent: "claude", Begin: " hook feedback:\n", Result: true, Line: true},
		{Agent: "claude", Begin: "Base directory for this skill: "},
		{Agent: "codex", Begin: "# AGENTS.md instructions"},
		{Agent: "gemini", Begin: "I ran the following shell command:", Result: true},
		{Agent: "gemini", Begin: "--- Content from referenced files ---", Rest: true, File: true},
		{Agent: "gemini", Begin: "--- Content from referenced context ---", Rest: true, File: true},
		{Agent: "claude", Begin: "Result of calling the Read tool:", End: "</system-reminder>", File: true},
		{Agent: "opencode", Begin: "Called the Read tool with the following input:", Rest: true, File: true},
		{Agent: "opencode", Begin: "Shell command: ", Result: true},
		{Agent: "opencode", Begin: "The following tool was executed by the user"},
	}
	for _, b := range Blocks() {
		if b.Sort != Words {
			m := tagged(b.Tag)
			m.Agent, m.Summary, m.Result, m.File, m.Report = b.Agent, b.Sort == Summary, b.Sort == Others, b.Sort == File, b.Sort == Report
			out = append(out, m)
		}
	}
	return out
}

// wrappers are the tags a harness puts around the user's own words.
func wrappers(agent string) []string {
	var out []string
	for _, l := range blockLists {
		if l.sort == Words && l.agent == agent {
			out = append(out, l.tags...)
		}
	}
	return out
}

// known reports whether an agent is one whose blocks are known.
func known(agent string) bool {
	return agent != "" && slices.ContainsFunc(blockLists, func(l blockList) bool { return l.agent == agent })
}
