package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/entry"
	"github.com/tidemark/tidemark/internal/box/trial"
	"github.com/tidemark/tidemark/internal/test/boxtest"
	"github.com/tidemark/tidemark/internal/test/headlesstest"
	"github.com/tidemark/tidemark/internal/test/mcptest"
)

func TestMain(m *testing.M) {
	headlesstest.Become() // this binary, started as the program of an agent
	box.Become()
	trial.Become()
	if os.Getenv("TIDEMARK_TEST_BOX") == "1" {
		os.Exit(entry.Main(os.Args[1:], os.Stderr))
	}
	if filepath.Base(os.Args[0]) == "codex" {
		os.Exit(playCodex(os.Args[1:]))
	}
	mcptest.Main() // this binary, started as an MCP server
	if play := guises[filepath.Base(os.Args[0])]; play != nil {
		play()
		return
	}
	asHook := len(os.Args) > 2 && (os.Args[1] == "mcp" || os.Args[1] == "serve" && os.Args[2] == "--unless-running" || os.Args[1] == "box" && os.Args[2] == "keep")
	if os.Getenv("TIDEMARK_TEST_REDUCED") == "1" {
		if err := boxtest.NoNamespaces(); err != nil {
			panic(err)
		}
	}
	if os.Getenv("TIDEMARK_TEST_MAIN") == "1" || asHook { // this binary, started as the program itself; a hook hands on no variables
		main()
		return
	}
	testscript.Main(m, map[string]func(){"tidemark": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("TIDEMARK_DATA", e.Getenv("WORK")+"/data")
			return nil
		},
	})
}
