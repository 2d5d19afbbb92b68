package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/agents/install"
	"github.com/tidemark/tidemark/internal/agents/shim"
	"github.com/tidemark/tidemark/internal/box/trial"
)

// boxable are the agents whose commands can be sent into a box at their hook.
func boxable() []string {
	return slices.DeleteFunc(catalogue.Names(), func(name string) bool { return catalogue.Lookup(name).Rewrite == nil })
}

// tryBoxing makes a box before anything is written: an agent whose commands are sent to one that cannot be made runs none.
func (e *env) tryBoxing(w install.World, names []string) error {
	if w.Managed || w.Project != "" {
		return errors.New("--box is for a user's own settings: boxes are a user's, and those of a project or an administrator are for several people")
	}
	for _, name := range names {
		if !slices.Contains(boxable(), name) {
			return fmt.Errorf("--box: commands of %s cannot be sent into a box at its hook (only those of %s)", name, strings.Join(boxable(), ", "))
		}
	}
	around := trial.Around{First: smallProgram()}
	if install.Exists(w.Data) {
		around.Data = w.Data
	}
	rows, err := trial.Run(around)
	if err != nil {
		return fmt.Errorf("try a box: %w", err)
	}
	for _, r := range rows {
		if !r.Held {
			return errors.New(strings.TrimSpace(fmt.Sprintf("--box: %s: %s. %s", r.Name, r.Text, r.Help)))
		}
	}
	if len(rows) == 0 || shim.Kernel() == "" {
		return errors.New("--box: nothing could be tried here")
	}
	return nil
}

// noteBoxing notes for the hooks of agents whether their commands are sent into boxes. An installation without it switches it off, as
// it does with every other option. What is of a project or an administrator has no say.
func (e *env) noteBoxing(w install.World, on bool, out []installed) error {
	if w.Managed || w.Project != "" {
		return nil
	}
	for i := range out {
		r := &out[i]
		if !on {
			if err := shim.Unbox(w.Data, r.Agent); err != nil {
				return err
			}
			continue
		}
		if err := (shim.Boxing{Program: w.Hook, Kernel: shim.Kernel(), Version: r.Version}).Write(w.Data, r.Agent); err != nil {
			return err
		}
		note := "its commands run in a box once somebody but you has spoken, while it asks nobody by itself and has no rules about commands; " +
			"that this version runs the line it is given was not tried: a command that ran elsewhere closes its session"
		r.Notes = append(slices.Clone(r.Notes), note)
		if !e.json {
			e.printf("%s %s\n", e.ui.word("confirm", r.Agent+":"), note)
		}
	}
	return nil
}
