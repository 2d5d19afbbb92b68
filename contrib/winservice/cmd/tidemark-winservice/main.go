// Command tidemark-winservice has Windows keep a Tidemark server running, as a service under an account of its own
// (NT SERVICE\tidemark) that is let into the data folder. It takes an administrator, and was never run on a real Windows.
//
//	tidemark-winservice show|install|status|remove --program PATH --data FOLDER [--config FILE]
//
// As the service it starts "tidemark serve" and ends with it; what that prints is in serve.log in the data folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tidemark/tidemark/contrib/winservice/service"
)

const name = "tidemark"

// server is the server to keep running.
type server struct{ program, data, config string }

func (s *server) args() []string {
	out := []string{"--program", s.program, "--data", s.data}
	if s.config != "" {
		out = append(out, "--config", s.config)
	}
	return out
}

func (s *server) serve() []string {
	out := []string{"serve", "--data", s.data}
	if s.config != "" {
		out = append(out, "--config", s.config)
	}
	return out
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tidemark-winservice:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("want show, install, status or remove")
	}
	var s server
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&s.program, "program", "", "path of tidemark.exe")
	flags.StringVar(&s.data, "data", "", "the data folder")
	flags.StringVar(&s.config, "config", "", "the policy file; default: the one in the data folder")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	d := service.Definition{
		Name: name, Title: "Tidemark", About: "Tidemark, a reference monitor for AI agents",
		Program: self, Args: append([]string{"run"}, s.args()...), Account: `NT SERVICE\` + name,
	}
	switch args[0] {
	case "status":
		installed, running, err := d.State()
		if err == nil {
			_, err = fmt.Fprintf(out, "installed: %t\nrunning: %t\n", installed, running)
		}
		return err
	case "remove":
		return d.Remove()
	}
	if s.program == "" || s.data == "" {
		return errors.New("--program and --data are needed")
	}
	switch args[0] {
	case "show":
		_, err := io.WriteString(out, d.String())
		return err
	case "install":
		return install(d, &s)
	case "run":
		code, was := service.Run(name, s.run)
		if !was {
			return errors.New("run is for Windows alone, which starts the service with it")
		}
		os.Exit(code)
	}
	return errors.New("want show, install, status or remove")
}

// install makes the service and lets its account into the data folder. The account is there once the service is, so the first
// start may come too early.
func install(d service.Definition, s *server) error {
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return err
	}
	err := d.Install()
	if said, grant := exec.Command("icacls", s.data, "/grant", d.Account+":(OI)(CI)M").CombinedOutput(); grant != nil {
		return errors.Join(err, fmt.Errorf("let the service into the data folder: %w %s", grant, said))
	}
	if err != nil {
		err = d.Install()
	}
	return err
}

// run is the service: the server, until it ends or Windows wants it to. It is ended hard: what it has acknowledged is in its log.
func (s *server) run(ctx context.Context) int {
	log, err := os.OpenFile(filepath.Join(s.data, "serve.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 1
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, s.program, s.serve()...)
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return 0
	case err == nil:
		return 1 // it is to run: have it started again
	}
	return max(1, cmd.ProcessState.ExitCode())
}
