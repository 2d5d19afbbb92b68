package install

import (
	"strings"
	"unicode/utf8"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// place turns an offset into a line and a column.
func place(file string, src []byte, at int) configfile.Pos {
	text := strings.TrimPrefix(string(src[:min(at, len(src))]), "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	line := strings.Count(text, "\n") + 1
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return configfile.Pos{File: file, Line: line, Col: utf8.RuneCountInString(last) + 1}
}

// FileError is a settings file that is refused, with the place.
type FileError struct {
	Fault    configfile.Fault
	Rendered string // for people, with the line and a caret
}

func (e *FileError) Error() string { return e.Fault.Error() }

func refuse(file string, src []byte, pos configfile.Pos, message string) error {
	f := configfile.Fault{Pos: pos, Message: message, Hint: "nothing was changed; mend the file and try again"}
	return &FileError{Fault: f, Rendered: configfile.Faults{f}.Render(src)}
}

// refuseFile refuses a file for no place in it.
func refuseFile(file, message string) error {
	return refuse(file, nil, place(file, nil, 0), message)
}
