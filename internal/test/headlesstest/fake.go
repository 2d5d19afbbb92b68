// Package headlesstest is the program of an agent for tests: a test's own binary that behaves as Claude Code does without a
// terminal, or misbehaves as it is told. Only tests import it.
package headlesstest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// The variables that make a test's binary the program.
const (
	manner = "HEADLESS_FAKE"
	file   = "HEADLESS_ANSWER"
)

// Program writes a program called name into a folder: this very test, whose TestMain has to call Become. It answers with what
// stands in the file answer, or with what the endpoint says that it is pointed at.
func Program(tb testing.TB, folder, name, how, answer string) string {
	tb.Helper()
	path := filepath.Join(folder, name)
	script := fmt.Sprintf("#!/bin/sh\n%s=%s %s='%s' exec '%s' \"$@\"\n", manner, how, file, answer, os.Args[0])
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { // it is a program
		tb.Fatal(err)
	}
	return path
}

// Become makes this process the program where it is to be, and then does not return.
func Become() {
	how := os.Getenv(manner)
	if how == "" {
		return
	}
	if err := run(how, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(how string, args []string) error {
	switch {
	case slices.Contains(args, "--version"):
		fmt.Println("9.9.9 (fake)")
		return nil
	case len(args) > 0 && args[0] == "auth":
		if how == "away" {
			return fmt.Errorf("Not logged in") //nolint:staticcheck,revive // as it is printed
		}
		return nil
	}
	if how == "where" { // it says who it is before it has read anything
		if err := os.WriteFile(os.Getenv(file)+".pid", fmt.Append(nil, os.Getpid()), 0o600); err != nil {
			return err
		}
	}
	words, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if slices.Contains(args, "--input-format") { // a message is a line
		if words, err = message(words); err != nil {
			return err
		}
	}
	if err := misbehave(how, args, words); err != nil {
		return err
	}
	text, err := answer(how, args, string(words))
	if err != nil {
		return err
	}
	if how == "garbage" {
		text = `"I think they want mail`
	}
	fmt.Printf(`{"type":"result","subtype":"success","is_error":false,"structured_output":%s,"result":"",`+
		`"usage":{"input_tokens":7,"output_tokens":3}}`+"\n", text)
	return nil
}

// message is the text of the one message that it was given.
func message(line []byte) ([]byte, error) {
	var in struct {
		Message struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"message"`
	}
	if err := strictjson.Unmarshal(bytes.TrimSpace(line), &in); err != nil || len(in.Message.Content) != 1 {
		return nil, fmt.Errorf("no message: %w", err)
	}
	return []byte(in.Message.Content[0].Text), nil
}

// misbehave does what a program must not do.
func misbehave(how string, args []string, words []byte) error {
	home := os.Getenv("HOME")
	switch how {
	case "hang", "child":
		if how == "child" {
			child := exec.Command("sleep", "600")
			if err := child.Start(); err != nil {
				return err
			}
			if err := os.WriteFile(os.Getenv(file), fmt.Append(nil, child.Process.Pid), 0o600); err != nil {
				return err
			}
		}
		time.Sleep(10 * time.Minute)
	case "dies":
		fmt.Print(`{"type":"result","subtype":"succ`)
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return self.Kill()
	case "limit":
		fmt.Println(`{"type":"result","subtype":"success","is_error":true,"result":"You have hit your limit, resets 3pm","usage":{}}`)
		return fmt.Errorf("limit")
	case "flood":
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<20)) // nobody may read all of it
	case "away":
		return fmt.Errorf("Not logged in · Please run /login") //nolint:staticcheck,revive // as it is printed
	case "keep":
		return os.WriteFile(filepath.Join(home, "history.txt"), words, 0o600)
	case "hooks":
		settings, err := os.ReadFile(filepath.Join(home, ".claude", "settings.json"))
		if err != nil {
			return err
		}
		if m := regexp.MustCompile(`touch ([^"]+)"`).FindSubmatch(settings); m != nil {
			return os.WriteFile(string(m[1]), nil, 0o600)
		}
	case "tell": // what it was started with
		return os.WriteFile(os.Getenv(file)+".seen", []byte(strings.Join(append(args, os.Environ()...), "\n")), 0o600)
	}
	return nil
}

// answer asks the endpoint that the program is pointed at, or looks into its file.
func answer(how string, args []string, words string) (string, error) {
	base := os.Getenv("ANTHROPIC_BASE_URL")
	if base == "" {
		text, err := os.ReadFile(os.Getenv(file))
		return string(text), err
	}
	system := ""
	if i := slices.Index(args, "--system-prompt-file"); i >= 0 && how != "deaf" {
		text, err := os.ReadFile(args[i+1])
		if err != nil {
			return "", err
		}
		system = string(text)
	}
	if how == "memory" {
		text, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".claude", "CLAUDE.md"))
		if err != nil {
			return "", err
		}
		system += string(text)
	}
	messages := []any{map[string]any{"role": "user", "content": words}}
	if how == "tools" { // as one program hides them
		hidden := map[string]any{"type": "namespace", "name": "functions", "tools": []any{map[string]any{"name": "exec"}}}
		messages = append(messages, map[string]any{"additional_tools": []any{hidden}})
	}
	body := map[string]any{"model": "m", "system": system, "messages": messages, "tools": []any{}}
	times := 1
	if how == "twice" {
		times = 2
	}
	text := ""
	for range times {
		var err error
		if text, err = post(base+"/v1/messages", body); err != nil {
			return "", err
		}
	}
	return text, nil
}

func post(url string, body any) (string, error) {
	raw, err := strictjson.Marshal(body)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{}}
	resp, err := client.Post(url, "application/json", bytes.NewReader(raw)) //nolint:noctx // a program of a test
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var out struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	raw, err = io.ReadAll(resp.Body)
	if err != nil || strictjson.Unmarshal(raw, &out) != nil || len(out.Content) == 0 {
		return "", fmt.Errorf("no answer: %w", err)
	}
	return out.Content[0].Text, nil
}
