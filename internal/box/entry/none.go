//go:build !linux

package entry

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/tidemark/tidemark/internal/box"
)

// Main refuses: there are no boxes on this system.
func Main(_ []string, errOut io.Writer) int {
	fmt.Fprintln(errOut, "tidemark: there are no boxes on "+runtime.GOOS+" yet, so nothing was run")
	return box.ExitNoBox
}

// Ask refuses.
func Ask(string, Request) (Answer, error) {
	return Answer{}, fmt.Errorf("there are no boxes on %s yet", runtime.GOOS)
}

// ErrNoKeeper is what there is here always.
var ErrNoKeeper = fmt.Errorf("there are no boxes on %s yet", runtime.GOOS)

// Do refuses.
func Do(string, Request, io.Writer, ...*os.File) int { return box.ExitNoBox }
