package tool

// The names by which agents call the tools they come with: those that run command lines, and
// the others that work on the machine the agent runs on. Agents put the name of a server
// before its tools, so that none of them has such a name; a door whose host does not says
// itself which tools are the host's own (see Definition.Host).

// IsShell reports whether agents call a tool of their own by a name that runs command lines.
// The name is in lower case, as Name makes it.
func IsShell(name string) bool {
	switch name {
	case "exec", "bash", "shell", "sh", "terminal", "run_shell_command", "run_command", "execute_command", "local_shell",
		"shell_command", "run_terminal_cmd", "exec_command", "powershell":
		return true
	}
	return false
}

// IsHost reports whether agents call a tool of their own by a name.
func IsHost(name string) bool {
	switch name {
	case "read", "write", "edit", "multiedit", "multi_edit", "notebookedit", "apply_patch", "ls", "glob", "grep", "read_file",
		"write_file", "edit_file", "create_file", "str_replace_editor", "list_directory", "read_text_file":
		return true
	}
	return IsShell(name)
}
