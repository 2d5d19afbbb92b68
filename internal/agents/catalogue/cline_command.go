package catalogue

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// clineCommand reads an entry that is a command for a shell, or a program with its words.
func clineCommand(v strictjson.Value) (clineEntry, error) {
	if v.Kind() != '{' {
		text, err := clineText(v)
		return clineEntry{text: text}, err
	}
	var members map[string]strictjson.Value
	if err := strictjson.Unmarshal(v, &members); err != nil {
		return clineEntry{}, err
	}
	program, err := clineText(members["command"])
	if err != nil {
		return clineEntry{}, fmt.Errorf("read command: %w", err)
	}
	args, there := members["args"]
	if !there || args.Kind() == 'n' {
		return clineEntry{text: program, apart: true}, nil // a shell runs it
	}
	var list []strictjson.Value
	if args.Kind() != '[' {
		return clineEntry{}, errors.New("read args: it is no list")
	}
	if err := strictjson.Unmarshal(args, &list); err != nil {
		return clineEntry{}, fmt.Errorf("read args: %w", err)
	}
	words := []string{settings.Word(program)}
	for _, a := range list {
		word, err := clineText(a)
		if err != nil {
			return clineEntry{}, fmt.Errorf("read args: %w", err)
		}
		words = append(words, settings.Word(word))
	}
	return clineEntry{text: strings.Join(words, " "), apart: true}, nil
}

// maxJoined bounds the work on entries that Cline may join, in bytes looked at.
const maxJoined = 4 << 20

// oneCommand is what has the effects of all. Each of several runs in a shell of its own:
// put together bare, a quote in one could hide the next.
func oneCommand(list []clineEntry) (string, error) {
	if len(list) == 1 {
		return list[0].text, nil
	}
	var out []string
	for _, e := range list {
		out = append(out, "sh -c "+settings.Word(e.text))
	}
	joined, err := heredocs(list)
	for _, text := range joined {
		out = append(out, "sh -c "+settings.Word(text))
	}
	return strings.Join(out, "\n"), err
}

// heredocs are the entries that Cline may run in one shell: it takes the word after a
// "<<" for the name of a document that was split, and a later entry of that name for its
// end, whatever a shell would say. These are some more than it joins.
func heredocs(list []clineEntry) ([]string, error) {
	var out []string
	size := 0
	for i, first := range list {
		if first.apart || !strings.Contains(first.text, "<<") {
			continue
		}
		texts := []string{first.text}
		for _, next := range list[i+1:] {
			if next.apart {
				break
			}
			texts = append(texts, next.text)
			if size += len(first.text) + len(next.text); size > maxJoined {
				return nil, errors.New("read commands: too many may be joined")
			}
			if end := strings.TrimFunc(next.text, isSpace); end != "" && strings.Contains(first.text, end) {
				text := strings.Join(texts, "\n")
				size += len(text)
				out = append(out, text)
			}
		}
	}
	return out, nil
}
