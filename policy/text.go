package policy

import (
	"fmt"
	"strings"

	"github.com/tidemark/tidemark/trust"
)

// The words people read. Each says what was found and what follows from it.

func ruleText(name string, e Effect) string {
	switch e {
	case Deny:
		return "the rule " + name + " refuses this call"
	case Confirm:
		return "the rule " + name + " wants a person to look at this call first"
	}
	return "the rule " + name + " lets this call run"
}

func defaultText(e Effect) string {
	if e == Deny {
		return "no rule allows this call and everything else is refused (defaultEffect: deny)"
	}
	return "no rule decides this call and everything else needs a person (defaultEffect: escalate)"
}

// modeText explains an entry of taintPolicy, toolOverrides or strictness.
func modeText(e entry, name string, l trust.Level) string {
	holds := "the context holds " + l.String() + " content"
	if !strings.Contains(e.rule, "toolOverrides.") {
		who := "taintPolicy"
		if strings.HasPrefix(e.rule, "strictness.") {
			who = "the strictness of this iteration"
		}
		switch e.effect {
		case Deny:
			return holds + " and " + who + " closes every tool without an override"
		case Confirm:
			return holds + " and " + who + " asks before any tool without an override runs"
		}
		return "nothing in the context is less trusted than " + l.String() + " and " + who + " lets tools run"
	}
	while := ", whatever the context holds"
	if !strings.HasSuffix(e.rule, ".*") {
		while = " while " + holds
	}
	switch e.effect {
	case Deny:
		return "toolOverrides closes " + name + while
	case Confirm:
		return "toolOverrides asks before " + name + " runs" + while
	}
	return "toolOverrides lets " + name + " run" + while
}

// policyText is the reason of a declarative policy that gives none.
func policyText(p *declared) string {
	var when []string
	if p.levels != 0 {
		var names []string
		for _, l := range trust.Levels() {
			if p.levels&(1<<l) != 0 {
				names = append(names, l.String())
			}
		}
		when = append(when, "the context holds "+strings.Join(names, " or ")+" content")
	}
	if p.from > 0 {
		when = append(when, fmt.Sprintf("the turn is at iteration %d or later", p.from))
	}
	if p.when != nil {
		when = append(when, "its expression holds")
	}
	if len(when) == 0 {
		return "this policy always applies"
	}
	return strings.Join(when, " and ")
}

func sinkText(name string) string {
	return name + " acts on the world outside, and this context has taken in content that others control"
}

func trifectaText(name string) string {
	return "content that others control and sensitive data are both in this context, and " + name + " can carry data out"
}

func errorText(err error) string {
	return "the condition of this rule could not be evaluated: " + short(plainMessage(err.Error()))
}

func laterText(rule string) string {
	return rule + " looks at every text, and a word of the command is decided only when it runs: whether it applies is for a person to see"
}

func largeText(rule string) string {
	return fmt.Sprintf("%s looks at an argument of more than %d KiB, too large for a condition: whether it applies is for a person to see",
		rule, maxArgs>>10)
}
