package install

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/tidemark/tidemark/internal/source"

	"github.com/tidemark/tidemark/internal/settings"
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
func addBlock(path string, src []byte, block string, old settings.Entry) ([]byte, settings.Entry, error) {
	if err := checkTOML(path, src); err != nil {
		return nil, settings.Entry{}, err
	}
	if strings.Contains(string(src), settings.MarkBegin+block+settings.MarkEnd) {
		return src, settings.Entry{Block: block, Ended: old.Ended}, nil
	}
	rest := cutBlock(src, old)
	e := settings.Entry{Block: block, Ended: len(rest) > 0 && !bytes.HasSuffix(rest, []byte("\n"))}
	next := string(rest)
	if e.Ended {
		next += "\n"
	}
	next += settings.MarkBegin + block + settings.MarkEnd
	if err := checkTOML(path, []byte(next)); err != nil {
		return nil, settings.Entry{}, err
	}
	return []byte(next), e, nil
}

func cutBlock(src []byte, e settings.Entry) []byte {
	before, rest, ok := strings.Cut(string(src), settings.MarkBegin)
	if !ok {
		return src
	}
	_, after, ok := strings.Cut(rest, settings.MarkEnd)
	if !ok {
		return src
	}
	if e.Ended && after == "" {
		before = strings.TrimSuffix(before, "\n")
	}
	return []byte(before + after)
}
