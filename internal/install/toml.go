package install

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/tidemark/tidemark/internal/source"
)

// The marks around our part of a TOML file.
const (
	markBegin = "# tidemark: begin (written by tidemark install; tidemark uninstall removes it)\n"
	markEnd   = "# tidemark: end\n"
)

// checkTOML refuses a file that cannot be read, with the place.
func checkTOML(path string, src []byte) error {
	var v map[string]any
	err := toml.Unmarshal(src, &v)
	if err == nil {
		return nil
	}
	pos := source.Pos{File: path, Line: 1, Col: 1}
	bad := new(toml.DecodeError)
	if errors.As(err, &bad) {
		pos.Line, pos.Col = bad.Position()
	}
	return refuse(path, src, pos, strings.TrimPrefix(err.Error(), "toml: "))
}

// addBlock puts our tables at the end of the file, in place of those of before.
func addBlock(path string, src []byte, block string, old entry) ([]byte, entry, error) {
	if err := checkTOML(path, src); err != nil {
		return nil, entry{}, err
	}
	if strings.Contains(string(src), markBegin+block+markEnd) {
		return src, entry{Block: block, Ended: old.Ended}, nil
	}
	rest := cutBlock(src, old)
	e := entry{Block: block, Ended: len(rest) > 0 && !bytes.HasSuffix(rest, []byte("\n"))}
	next := string(rest)
	if e.Ended {
		next += "\n"
	}
	next += markBegin + block + markEnd
	if err := checkTOML(path, []byte(next)); err != nil {
		return nil, entry{}, err
	}
	return []byte(next), e, nil
}

// blockOf is what stands between our marks.
func blockOf(src []byte) (string, bool) {
	_, rest, ok := strings.Cut(string(src), markBegin)
	if !ok {
		return "", false
	}
	block, _, ok := strings.Cut(rest, markEnd)
	return block, ok
}

func cutBlock(src []byte, e entry) []byte {
	before, rest, ok := strings.Cut(string(src), markBegin)
	if !ok {
		return src
	}
	_, after, ok := strings.Cut(rest, markEnd)
	if !ok {
		return src
	}
	if e.Ended && after == "" {
		before = strings.TrimSuffix(before, "\n")
	}
	return []byte(before + after)
}
