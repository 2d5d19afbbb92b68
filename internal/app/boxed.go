package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/reports/doctor"
)

// boxesOf says how an agent's commands and boxes stand.
func boxesOf(w install.World, name, version string) doctor.Boxes {
	a := catalogue.Lookup(name)
	if a.Rewrite == nil && a.Prefix == nil {
		return doctor.Boxes{Off: true, Text: "its commands cannot be sent into boxes one by one: docs/box.md says why"}
	}
	again := "tidemark install " + name + " --box"
	b, err := shim.ReadBoxing(w.Data, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return doctor.Boxes{Off: true, Text: "nobody has switched it on", Fix: again}
	case err != nil:
		return doctor.Boxes{Text: "the note of its trial cannot be read: " + err.Error(), Fix: again}
	case b.Trial != "" || len(b.Agent) == 0:
		return doctor.Boxes{Text: "its trial did not end", Fix: again}
	case b.Kernel != shim.Kernel():
		return doctor.Boxes{Text: fmt.Sprintf("boxes were tried on kernel %s, and this is %s", b.Kernel, shim.Kernel()), Fix: again}
	case b.Version != version:
		return doctor.Boxes{Text: fmt.Sprintf("version %s was tried, and this is %s", b.Version, version), Fix: again}
	}
	if info, err := os.Stat(b.Program); err != nil || !info.Mode().IsRegular() {
		return doctor.Boxes{Text: b.Program + " is not there any more", Fix: again}
	}
	if own := install.PrefixTaken(w, name); own != "" {
		return doctor.Boxes{Text: "it starts its commands with " + own + " instead of our program", Fix: again}
	}
	if on := install.OwnSandbox(w, name); on != "" {
		return doctor.Boxes{Text: on, Fix: "one of the two: take its own out of its settings, or tidemark install " + name}
	}
	text := fmt.Sprintf("version %s, seen to obey at %s", b.Version, b.Tried.Local().Format("2006-01-02 15:04"))
	if a.Rewrite != nil && a.Rewrite.When != "" {
		text += "; " + a.Rewrite.When
	}
	return doctor.Boxes{On: true, Text: strings.TrimSpace(text)}
}
