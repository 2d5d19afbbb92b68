package archtest_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// heavy are packages that no program may hold, each with everything below it: they cost
// more than they are needed for. What tests alone import is not meant.
var heavy = map[string]string{
	"github.com/openai/openai-go":                "two requests do not need a client of 100 seconds to compile; see internal/external/auditor",
	"github.com/anthropics/anthropic-sdk-go":     "two requests do not need a client of 70 seconds to compile; see internal/external/auditor",
	"go.opentelemetry.io":                        "nothing is traced, and traces could carry prompts away",
	"github.com/aws":                             "no cloud's client is needed",
	"google.golang.org/grpc":                     "nothing speaks it",
	"html/template":                              "it calls methods by name, so the linker keeps every method there is: 4.5 MB",
	"net/http/pprof":                             "importing it opens pages on the default server",
	"testing":                                    "it is for tests",
	"net/http/httptest":                          "it is for tests",
	"github.com/tidemark/tidemark/internal/test": "it is for tests",
}

// byName are packages that call methods by name, which some library imports without
// using that. Where we use one, the linker keeps every method there is.
var byName = []string{"text/template"}

// parts maps every package a program is made of, libraries included, to what it imports.
type parts map[string][]string

// partsOf asks the go command, which knows what the libraries import.
func partsOf(t *testing.T, program string) parts {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, program)
	list.Dir = filepath.Join("..", "..", "..")
	list.Env = append(list.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("list what %s is made of: %v", program, err)
	}
	l := parts{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		l[fields[0]] = fields[1:]
	}
	return l
}

// tooHeavy names every package that is not to be there, once for each that imports it.
func (l parts) tooHeavy() []string {
	var out []string
	for from, imports := range l {
		for _, to := range imports {
			for name, why := range heavy {
				if below(to, name) && !below(from, name) {
					out = append(out, fmt.Sprintf("%s imports %s: %s", from, to, why))
				}
			}
			if below(from, module) && slices.Contains(byName, to) {
				out = append(out, fmt.Sprintf("%s imports %s: %s", from, to, heavy["html/template"]))
			}
		}
	}
	slices.Sort(out)
	return out
}

func below(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

func TestTheProgramsHoldNothingHeavy(t *testing.T) {
	for _, program := range []string{"./cmd/tidemark", "./cmd/tidemark-hook"} {
		for _, found := range partsOf(t, program).tooHeavy() {
			t.Errorf("%s: %s", program, found)
		}
	}
}

func TestWhatIsHeavyIsFound(t *testing.T) {
	l := parts{
		module + "/internal/x":               {"fmt", "text/template", "github.com/openai/openai-go/v3"},
		"github.com/openai/openai-go/v3":     {"github.com/openai/openai-go/v3/option", "go.opentelemetry.io/otel"},
		"github.com/spf13/cobra":             {"text/template", "testingtools.example/x"},
		"github.com/openai/openai-golf/hole": {"html/template"},
		"fmt":                                {"reflect"},
	}
	var names []string
	for _, found := range l.tooHeavy() {
		names = append(names, found[:strings.Index(found, ": ")])
	}
	want := []string{
		"github.com/openai/openai-go/v3 imports go.opentelemetry.io/otel", "github.com/openai/openai-golf/hole imports html/template",
		module + "/internal/x imports github.com/openai/openai-go/v3", module + "/internal/x imports text/template",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("too heavy (-want +got):\n%s", diff)
	}
}
