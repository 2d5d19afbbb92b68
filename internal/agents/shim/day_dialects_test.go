package shim_test

import (
	"maps"
	"strings"
)

// dialect is how an agent says what it does.
type dialect struct {
	prompt func(words string) line
	does   func(d deed) (tool string, in obj)
	call   func(id, tool string, in obj, out string) (before, after line)
}

const dayIn = "/home/user/work"

// tools are an agent's own: name and parameters for a deed, in the order fetch, read, write, edit, run.
type tools struct{ fetch, read, write, edit, run func(d deed) (string, obj) }

func (t tools) does(d deed) (string, obj) {
	switch d.kind {
	case "fetch":
		return t.fetch(d)
	case "read":
		return t.read(d)
	case "write":
		return t.write(d)
	case "edit":
		return t.edit(d)
	}
	return t.run(d)
}

// byWhat is a tool with one parameter.
func byWhat(tool, field string) func(d deed) (string, obj) {
	return func(d deed) (string, obj) {
		what := d.what
		if d.kind == "read" {
			what = dayIn + "/" + what
		}
		return tool, obj{field: what}
	}
}

// byFile is a tool that writes a file, or a piece of it in place of another.
func byFile(tool, file, old, content string) func(d deed) (string, obj) {
	return func(d deed) (string, obj) {
		in := obj{file: dayIn + "/" + d.what, content: d.content}
		if old != "" {
			in[old] = "    return client.get('/', deadline=1)"
		}
		return tool, in
	}
}

// inShell does a deed with a command.
func inShell(tool, field, before string) func(d deed) (string, obj) {
	return func(d deed) (string, obj) { return tool, obj{field: before + d.what} }
}

// nested is the dialect of those that follow Claude Code, with what they add.
func nested(names [3]string, more obj, t tools) dialect {
	line1 := func(event string, fields obj) line {
		all := obj{"session_id": "s-1", "cwd": dayIn, "hook_event_name": event}
		maps.Copy(all, more)
		maps.Copy(all, fields)
		return line{Body: payload(all)}
	}
	return dialect{
		prompt: func(words string) line { return line1(names[0], obj{"prompt": words}) },
		does:   t.does,
		call: func(id, tool string, in obj, out string) (line, line) {
			return line1(names[1], obj{"tool_name": tool, "tool_input": in, "tool_use_id": id}),
				line1(names[2], obj{"tool_name": tool, "tool_input": in, "tool_use_id": id, "tool_response": out})
		},
	}
}

var pascal = [3]string{"UserPromptSubmit", "PreToolUse", "PostToolUse"}

func dialects() map[string]dialect {
	return map[string]dialect{
		"claude": nested(pascal, obj{"permission_mode": "default", "prompt_id": "p"}, tools{
			byWhat("WebFetch", "url"), byWhat("Read", "file_path"), byFile("Write", "file_path", "", "content"),
			byFile("Edit", "file_path", "old_string", "new_string"), byWhat("Bash", "command"),
		}),
		"codex": nested(pascal, obj{"turn_id": "t", "model": "m", "permission_mode": "default"}, tools{
			inShell("Bash", "command", "curl -s "), inShell("Bash", "command", "cat "), patched("Add File"), patched("Update File"), byWhat("Bash", "command"),
		}),
		"gemini": nested([3]string{"BeforeAgent", "BeforeTool", "AfterTool"}, obj{"timestamp": "2026-11-15T00:30:11.571Z"}, tools{
			inShell("web_fetch", "prompt", "Sum up "), byWhat("read_file", "file_path"), byFile("write_file", "file_path", "", "content"),
			byFile("replace", "file_path", "old_string", "new_string"), byWhat("run_shell_command", "command"),
		}),
		"droid": nested(pascal, nil, tools{
			byWhat("FetchUrl", "url"), byWhat("Read", "file_path"), byFile("Create", "file_path", "", "content"),
			byFile("Edit", "file_path", "old_str", "new_str"), byWhat("Execute", "command"),
		}),
		"kiro": nested(pascal, nil, tools{
			byWhat("web_fetch", "url"), byWhat("fs_read", "path"), byFile("fs_write", "path", "", "content"),
			byFile("fs_write", "path", "old_str", "new_str"), byWhat("execute_bash", "command"),
		}),
		"cursor": cursorDay(), "copilot": copilotDay(), "opencode": openCodeDay(), "goose": gooseDay(), "windsurf": windsurfDay(), "cline": clineDay(),
	}
}

// patched is the tool of Codex for all changes of files.
func patched(how string) func(d deed) (string, obj) {
	return func(d deed) (string, obj) {
		added := "+" + strings.ReplaceAll(strings.TrimSuffix(d.content, "\n"), "\n", "\n+")
		if d.kind == "edit" {
			added = "@@\n-    return client.get('/', deadline=1)\n" + added
		}
		return "apply_patch", obj{"command": "*** Begin Patch\n*** " + how + ": " + d.what + "\n" + added + "\n*** End Patch"}
	}
}

func cursorDay() dialect {
	d := nested([3]string{"beforeSubmitPrompt", "preToolUse", "postToolUse"}, obj{
		"conversation_id": "s-1", "generation_id": "g", "model": "m", "workspace_roots": []string{dayIn},
	}, tools{
		byWhat("WebFetch", "url"), byWhat("Read", "path"), byFile("Write", "path", "", "contents"),
		byFile("StrReplace", "path", "old_string", "new_string"), byWhat("Shell", "command"),
	})
	plain := d.call
	d.call = func(id, tool string, in obj, out string) (line, line) {
		before, after := plain(id, tool, in, out)
		after.Body = []byte(strings.Replace(string(after.Body), `"tool_response":`, `"tool_output":`, 1))
		return before, after
	}
	return d
}

func copilotDay() dialect {
	t := tools{
		byWhat("web_fetch", "url"), byWhat("view", "path"), byFile("create", "path", "", "file_text"), byFile("edit", "path", "old_str", "new_str"),
		byWhat("bash", "command"),
	}
	base := func(event string, fields obj) line {
		all := obj{"sessionId": "s-1", "timestamp": 1, "cwd": dayIn}
		maps.Copy(all, fields)
		return line{event, payload(all)}
	}
	return dialect{
		prompt: func(words string) line { return base("userPromptSubmitted", obj{"prompt": words}) }, does: t.does,
		call: func(_, tool string, in obj, out string) (line, line) {
			return base("preToolUse", obj{"toolName": tool, "toolArgs": in}),
				base("postToolUse", obj{"toolName": tool, "toolArgs": in, "toolResult": obj{"resultType": "success", "textResultForLlm": out}})
		},
	}
}

func openCodeDay() dialect {
	t := tools{
		byWhat("webfetch", "url"), byWhat("read", "filePath"), byFile("write", "filePath", "", "content"),
		byFile("edit", "filePath", "oldString", "newString"), byWhat("bash", "command"),
	}
	return dialect{
		prompt: func(words string) line {
			return line{Body: payload(obj{"k": "chat.message", "i": obj{"sessionID": "s-1"}, "cwd": dayIn, "o": obj{
				"message": obj{"role": "user"}, "parts": []any{obj{"type": "text", "text": words}},
			}})}
		}, does: t.does,
		call: func(id, tool string, in obj, out string) (line, line) {
			return line{Body: payload(obj{"k": "tool.execute.before", "i": obj{"tool": tool, "sessionID": "s-1", "callID": id}, "o": obj{"args": in}, "cwd": dayIn})},
				line{Body: payload(obj{"k": "tool.execute.after", "i": obj{"tool": tool, "sessionID": "s-1", "callID": id, "args": in}, "o": obj{
					"title": "t", "output": out, "metadata": obj{},
				}, "cwd": dayIn})}
		},
	}
}

// gooseDay: it reads files in its shell, and reports that a tool ran, not what came of it.
func gooseDay() dialect {
	t := tools{
		byWhat("computercontroller__web_scrape", "url"), inShell("shell", "command", "cat "), byFile("write", "path", "", "content"),
		byFile("edit", "path", "before", "after"), byWhat("shell", "command"),
	}
	base := func(event string, fields obj) line {
		all := obj{"session_id": "s-1", "event": event, "working_dir": dayIn}
		maps.Copy(all, fields)
		return line{Body: payload(all)}
	}
	return dialect{
		prompt: func(words string) line { return base("UserPromptSubmit", obj{"message": words}) }, does: t.does,
		call: func(id, tool string, in obj, _ string) (line, line) {
			fields := obj{"tool_name": tool, "tool_input": in, "tool_call_id": id}
			return base("PreToolUse", fields), base("PostToolUse", fields)
		},
	}
}

// windsurfDay: each kind of tool has an event of its own.
func windsurfDay() dialect {
	t := tools{
		func(d deed) (string, obj) {
			return "mcp_tool_use", obj{"mcp_server_name": "web", "mcp_tool_name": "fetch", "mcp_tool_arguments": obj{"url": d.what}}
		},
		byWhat("read_code", "file_path"), windsurfWrites, windsurfWrites,
		func(d deed) (string, obj) { return "run_command", obj{"command_line": d.what, "cwd": dayIn} },
	}
	base := func(event string, info obj) line {
		return line{Body: payload(obj{
			"agent_action_name": event, "trajectory_id": "s-1", "execution_id": "e-1", "timestamp": "2026-11-15T00:00:00Z", "tool_info": info,
		})}
	}
	return dialect{
		prompt: func(words string) line { return base("pre_user_prompt", obj{"user_prompt": words}) }, does: t.does,
		call: func(_, tool string, in obj, out string) (line, line) {
			done := maps.Clone(in)
			if tool == "mcp_tool_use" {
				done["mcp_result"] = out
			}
			return base("pre_"+tool, in), base("post_"+tool, done)
		},
	}
}

func windsurfWrites(d deed) (string, obj) {
	return "write_code", obj{"file_path": dayIn + "/" + d.what, "edits": []any{obj{"old_string": "", "new_string": d.content}}}
}

func clineDay() dialect {
	t := tools{
		func(d deed) (string, obj) {
			return "fetch_web_content", obj{"requests": []any{obj{"url": d.what, "prompt": "what is in it"}}}
		},
		func(d deed) (string, obj) {
			return "read_files", obj{"files": []any{obj{"path": dayIn + "/" + d.what}}}
		},
		byFile("editor", "path", "", "new_text"), byFile("editor", "path", "old_text", "new_text"),
		func(d deed) (string, obj) { return "run_commands", obj{"commands": []any{d.what}} },
	}
	base := func(event string, fields obj) line {
		all := obj{"hookName": event, "taskId": "s-1", "agent_id": "a", "parent_agent_id": nil, "workspaceRoots": []string{dayIn}, "clineVersion": "3"}
		maps.Copy(all, fields)
		return line{Body: payload(all)}
	}
	return dialect{
		prompt: func(words string) line {
			return base("UserPromptSubmit", obj{"userPromptSubmit": obj{"prompt": words, "attachments": []any{}}})
		}, does: t.does,
		call: func(id, tool string, in obj, out string) (line, line) {
			return base("tool_call", obj{"tool_call": obj{"id": id, "name": tool, "input": in}}),
				base("tool_result", obj{"tool_result": obj{"id": id, "name": tool, "input": in, "output": out}})
		},
	}
}
