package tool

import "slices"

// The names by which agents call the tools they come with: those that run command lines, and
// the others that work on the machine the agent runs on. Agents put the name of a server
// before its tools, so that none of them has such a name. A name alone makes no tool the
// host's own: the door says which are (see Definition.Host).

var (
	shells = []string{
		"exec", "bash", "shell", "sh", "terminal", "run_shell_command", "run_command", "execute_command", "local_shell",
		"shell_command", "run_terminal_cmd", "exec_command", "powershell",
	}
	files = []string{
		"read", "write", "edit", "multiedit", "multi_edit", "notebookedit", "apply_patch", "ls", "glob", "grep", "read_file",
		"write_file", "edit_file", "create_file", "str_replace_editor", "list_directory", "read_text_file",
	}
)

// IsShell reports whether agents call a tool of their own by a name that runs command lines.
// The name is in lower case, as Name makes it.
func IsShell(name string) bool { return slices.Contains(shells, name) }

// IsHost reports whether agents call a tool of their own by a name.
func IsHost(name string) bool { return slices.Contains(files, name) || IsShell(name) }

// Usual are the tools that are the host's own in a test that has no host to say it. They are those of the
// usual names, if one of them runs command lines; where it is not known what was offered either (nil), all of
// the usual names. No door and no recording uses it.
func Usual(offered []string) []string {
	if offered == nil {
		return append(slices.Clone(shells), files...)
	}
	own, shell := []string{}, false
	for _, n := range offered {
		if name := Name(n); IsHost(name) {
			own, shell = append(own, name), shell || IsShell(name)
		}
	}
	if !shell {
		return []string{}
	}
	return own
}
