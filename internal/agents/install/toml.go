package install

import (
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/tidemark/tidemark/internal/base/configfile"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// checkTOML refuses a file that cannot be read, with the place.
func checkTOML(path string, src []byte) error {
	var v map[string]any
	err := toml.Unmarshal(src, &v)
	if err == nil {
		return nil
	}
	pos := configfile.Pos{File: path, Line: 1, Col: 1}
	bad := new(toml.DecodeError)
	if errors.As(err, &bad) {
		pos.Line, pos.Col = bad.Position()
	}
	return refuse(path, src, pos, strings.TrimPrefix(err.Error(), "toml: "))
}

// addBlock puts our tables at the end of the file, in place of those of before. Another
// installation of ours, for the user or a project, has its tables between the same marks.
func addBlock(f file, src []byte, block string, old settings.Entry) ([]byte, settings.Entry, error) {
	if err := checkTOML(f.Path, src); err != nil {
		return nil, settings.Entry{}, err
	}
	now, was := blockOf(settings.Entry{Block: block}, f.heads), blockOf(old, f.heads)
	if holdsBlock(src, block) && !slices.ContainsFunc(between(src), func(t string) bool { return was(t) && !now(t) }) {
		return src, settings.Entry{Block: block, Ended: old.Ended}, nil
	}
	rest := string(cutBlock(src, old.Ended, func(t string) bool { return was(t) || now(t) }))
	e := settings.Entry{Block: block}
	var next string
	if before, inner, after, ok := settings.Around([]byte(rest)); ok {
		next = before + settings.MarkBegin + block + inner + settings.MarkEnd + after
	} else {
		if e.Ended = rest != "" && !strings.HasSuffix(rest, "\n"); e.Ended {
			rest += "\n"
		}
		next = rest + settings.MarkBegin + block + settings.MarkEnd
	}
	if err := checkTOML(f.Path, []byte(next)); err != nil {
		return nil, settings.Entry{}, err
	}
	if !holdsBlock([]byte(next), block) {
		return nil, settings.Entry{}, refuseFile(f.Path,
			"something in this file changes what Tidemark's tables mean: look for \"hooks\" in it")
	}
	return []byte(next), e, nil
}

// blockOf tells the tables of an installation by their headers. Where there is no record,
// all that trust a hook of its file are taken for ours.
func blockOf(e settings.Entry, heads string) func(table string) bool {
	if e.Block == "" || e.Block == unknownBlock {
		return func(table string) bool { return strings.HasPrefix(header(table), heads) }
	}
	known := map[string]bool{}
	for _, t := range settings.Tables(e.Block) {
		known[header(t)] = true
	}
	return func(table string) bool { return known[header(table)] }
}

// unknownBlock is the block of an installation without a record.
const unknownBlock = "?"

func header(table string) string {
	first, _, _ := strings.Cut(table, "\n")
	return strings.TrimSpace(first)
}

// between are the tables between our marks.
func between(src []byte) []string {
	_, inner, _, _ := settings.Around(src)
	return settings.Tables(inner)
}

// cutBlock is the file without our part. Tables of others between the marks stay: agents
// put theirs there. The marks stay only around what may be another installation's. ended
// says that the line before was made whole for our part.
func cutBlock(src []byte, ended bool, ours func(table string) bool) []byte {
	before, _, after, ok := settings.Around(src)
	if !ok {
		return src
	}
	left := slices.DeleteFunc(between(src), ours)
	kept := strings.Join(left, "")
	switch {
	case slices.ContainsFunc(left, func(t string) bool { return strings.HasPrefix(header(t), "[hooks.state.") }):
		kept = settings.MarkBegin + kept + settings.MarkEnd
	case ended && kept+after == "":
		before = strings.TrimSuffix(before, "\n")
	}
	return []byte(before + kept + after)
}
