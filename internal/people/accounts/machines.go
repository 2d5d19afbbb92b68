package accounts

import (
	"context"
	"regexp"
	"slices"

	"github.com/tidemark/tidemark/internal/event"
)

// A machine elsewhere that has joined has one token for all of its agents, under its own name, and its agents have theirs under it. The
// server sets both names on what comes with them.

// machineName is what a machine may be called.
var machineName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,15}$`)

// agentOfMachine is what an agent may be called that runs on one.
var agentOfMachine = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,14}$`)

// MachineName reports whether a machine may be called so.
func MachineName(name string) bool { return machineName.MatchString(name) && checkName(name) == nil }

// OnMachine is the id of an agent on a machine elsewhere.
func OnMachine(agent, machine string) string { return agent + "@" + machine }

// MachineRole is what asks for the token of a machine.
const MachineRole = "machine"

// AddMachine makes the token of a machine.
func (r *Roster) AddMachine(ctx context.Context, who Actor, machine string) (token string, err error) {
	return r.add(ctx, who, Person{Name: machine, Role: AgentRole, Machine: machine})
}

// AddAgentOf makes a token of one agent on a machine. One that the agent had before is worth nothing any more: its machine asked.
func (r *Roster) AddAgentOf(ctx context.Context, who Actor, machine, agent string) (token string, err error) {
	p := Person{Name: machine + "." + agent, Role: AgentRole, Agent: OnMachine(agent, machine), Machine: machine}
	if !agentOfMachine.MatchString(agent) {
		p.Agent = "" // refused below, in the words for it
		p.Machine = ""
	}
	if _, err := r.Revoke(ctx, who, p.Name); err != nil && err != ErrNobody { //nolint:errorlint // it is returned as it is
		return "", err
	}
	return r.add(ctx, who, p)
}

// revokeAgentsOf takes away the tokens of a machine's agents, before its own.
// Preconditions: mu is held.
func (r *Roster) revokeAgentsOf(ctx context.Context, who Actor, machine string) error {
	for {
		list, err := r.now()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(p Person) bool { return p.Machine == machine && p.Name != machine })
		if i < 0 {
			return nil
		}
		p := list[i]
		gone := event.Person{Act: "token-revoked", By: who.By, Via: who.Via, Detail: p.By()}
		if err := r.change(ctx, gone, slices.Delete(slices.Clone(list), i, i+1)); err != nil {
			return err
		}
	}
}
