package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// playCodex is Codex as far as its hooks and its model go. With "tell" it starts a hook for an event that stands on its standard input;
// else it asks its model for a command, and runs it as its hook says. A file beside the program makes it a version that runs the
// model's line whatever the hook says.
func playCodex(args []string) int {
	switch {
	case slices.Contains(args, "--version"):
		fmt.Println("codex-cli 0.166.0")
		return 0
	case args[0] == "tell":
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode()
	}
	home := os.Getenv("CODEX_HOME")
	config, err := os.ReadFile(filepath.Join(home, "config.toml"))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	model := regexp.MustCompile(`base_url = "(.*)"`).FindStringSubmatch(string(config))[1] + "/responses"
	const tools = `"stream":true,"tools":[{"type":"function","name":"exec_command"}]`
	asked := post(model, `{"input":[],`+tools+`}`)
	call := regexp.MustCompile(`"arguments":("(?:[^"\\]|\\.)*")`).FindStringSubmatch(asked)
	var text string
	var wants struct {
		Cmd string `json:"cmd"`
	}
	if call == nil || json.Unmarshal([]byte(call[1]), &text) != nil || json.Unmarshal([]byte(text), &wants) != nil {
		fmt.Println("the model says " + asked)
		return 1
	}
	said, _ := json.Marshal(obeyed(home, wants.Cmd))
	post(model, `{"input":[{"type":"function_call_output","output":`+string(said)+`}],`+tools+`}`)
	return 0
}

func post(url, body string) string {
	res, err := http.Post(url, "application/json", strings.NewReader(body)) // the scripted model
	if err != nil {
		return err.Error()
	}
	raw, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	return string(raw)
}

// obeyed asks the hook about a line, and runs what it says.
func obeyed(home, line string) string {
	var hooks struct {
		Hooks struct {
			Pre []settings.Group `json:"PreToolUse"`
		} `json:"hooks"`
	}
	raw, err := os.ReadFile(filepath.Join(home, "hooks.json"))
	if err != nil || json.Unmarshal(raw, &hooks) != nil || len(hooks.Hooks.Pre) != 1 {
		return fmt.Sprint("no hooks: ", err)
	}
	folder, _ := os.Getwd()
	event, _ := json.Marshal(map[string]any{
		"session_id": "trial", "turn_id": "t", "cwd": folder, "permission_mode": "bypassPermissions", "hook_event_name": "PreToolUse",
		"tool_name": "Bash", "tool_use_id": "c", "tool_input": map[string]any{"command": line},
	})
	argv := hooks.Hooks.Pre[0].Hooks[0].Argv()
	cmd := exec.Command(argv[0], argv[1:]...)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(event), &said
	out, err := cmd.Output()
	if err != nil {
		return "refused: " + said.String()
	}
	var answer struct {
		Out struct {
			Input struct {
				Command string `json:"command"`
			} `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(out, &answer) == nil && answer.Out.Input.Command != "" && !exists(os.Args[0]+".drops") {
		line = answer.Out.Input.Command
	}
	out, _ = exec.Command("/bin/sh", "-c", line).CombinedOutput()
	return string(out)
}
