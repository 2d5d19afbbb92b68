package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// oldNames are commands that once stood at the top, and where they stand now. Scripts, timers and notes of
// people say them, so they go on: a name is never taken out of here, nor given to another command.
var oldNames = []struct{ old, now string }{
	{"accept", "trust settings"},
	{"annotate", "tools annotate"},
	{"audit", "log"},
	{"backup", "log backup"},
	{"check", "policy check"},
	{"explain", "policy explain"},
	{"export", "log export"},
	{"grants", "approvals grants"},
	{"graph", "log graph"},
	{"hold", "log hold"},
	{"labels", "trust labels"},
	{"learn", "policy learn"},
	{"migrate", "log migrate"},
	{"plugins", "report plugins"},
	{"prune", "log prune"},
	{"reload", "policy reload"},
	{"replay", "policy replay"},
	{"reset-trust", "trust session"},
	{"restore", "log restore"},
	{"verifier", "policy verifier"},
	{"writes", "approvals writes"},
}

// addOldNames has the root know the old names, so that cobra finds them among flags. They are never run: see byNewName.
func addOldNames(root *cobra.Command) {
	for _, n := range oldNames {
		root.AddCommand(&cobra.Command{Use: n.old, Short: "Is now tidemark " + n.now, Hidden: true})
	}
}

// byNewName puts the new name in the place of an old one, before anything is read of the arguments: what runs, its flags
// and its help are those of the new name. It says so too, for people.
func byNewName(root *cobra.Command, args []string) ([]string, string) {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) && len(args) > 2 {
		last := len(args) - 1 // the word that is being written
		inner, _ := byNewName(root, args[1:last])
		return slices.Concat(args[:1], inner, args[last:]), ""
	}
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.Parent() != root {
		return args, ""
	}
	if cmd.Name() == "help" {
		inner, told := byNewName(root, rest)
		return append([]string{"help"}, inner...), told
	}
	for _, n := range oldNames {
		if n.old == cmd.Name() {
			told := fmt.Sprintf("%q is now %q; the old name goes on working", "tidemark "+n.old, "tidemark "+n.now)
			return append(strings.Fields(n.now), rest...), told
		}
	}
	return args, ""
}

// elsewhere is what may have been meant by a word that is no command at the top: the new name of an old one,
// or a command below another.
func elsewhere(cmd *cobra.Command, word string) []string {
	if cmd.HasParent() {
		return nil
	}
	var olds, found []string
	for _, n := range oldNames {
		olds = append(olds, n.old)
	}
	near := configfile.Suggest(word, olds)
	for _, n := range oldNames {
		if near == "did you mean "+n.old+"?" {
			found = append(found, n.now)
		}
	}
	for _, c := range cmd.Commands() {
		for _, below := range c.Commands() {
			if path := c.Name() + " " + below.Name(); below.Name() == word && below.IsAvailableCommand() && !slices.Contains(found, path) {
				found = append(found, path)
			}
		}
	}
	return found
}
