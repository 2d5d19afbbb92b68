package box

import (
	"embed"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed data/*.txt
var data embed.FS

// lists are the blocks of one file of data, by name.
type lists map[string][]string

var (
	places      = readLists("places.txt")
	gitSettings = readLists("git.txt")
	environment = readLists("environment.txt")
	homeFiles   = readLists("home.txt")
	homeKinds   = slices.Sorted(maps.Keys(homeFiles))
)

// readLists reads a file of blocks: a line "name :" begins one, words follow, lines that begin with // are for people.
func readLists(name string) lists {
	text, err := data.ReadFile(path.Join("data", name))
	if err != nil {
		panic("box: " + err.Error()) // it is part of the program
	}
	out, block := lists{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		if head, ok := strings.CutSuffix(line, " :"); ok {
			block = head
			continue
		}
		out[block] = append(out[block], strings.Fields(line)...)
	}
	return out
}

// of is a block. One that is missing would open what it should hold, so nothing runs without it.
func (l lists) of(block string) []string {
	words := l[block]
	if len(words) == 0 {
		panic("box: the data has no block " + block)
	}
	return words
}
