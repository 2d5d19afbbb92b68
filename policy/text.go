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
		return "the rule " + name + " denies this call"
	case Confirm:
		return "the rule " + name + " asks a person about this call first"
	}
	return "the rule " + name + " allows this call"
}

func defaultText(e Effect) string {
	if e == Deny {
		return "no rule allows this call, and the default is to deny (defaultEffect: deny)"
	}
	return "no rule decides this call, and the default is to ask a person (defaultEffect: ask)"
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
			return holds + " and " + who + " denies tools without an override"
		case Confirm:
			return holds + " and " + who + " asks before tools without an override"
		}
		return "no rule objects"
	}
	while := ", whatever the context holds"
	if !strings.HasSuffix(e.rule, ".*") {
		while = " while " + holds
	}
	switch e.effect {
	case Deny:
		return "toolOverrides denies " + name + while
	case Confirm:
		return "toolOverrides asks before " + name + " runs" + while
	}
	return "toolOverrides allows " + name + while
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
		when = append(when, "its condition is true")
	}
	if len(when) == 0 {
		return "this policy always applies"
	}
	return strings.Join(when, " and ")
}

func sinkText(name string) string {
	return name + " acts on the outside world, and the agent has read content that others control"
}

func trifectaText(name string) string {
	return "the agent has read sensitive data and content that others control, and " + name + " can send data out"
}

func errorText(err error) string {
	return "the condition of this rule could not be evaluated: " + short(plainMessage(err.Error()))
}

func laterText(rule string) string {
	return rule + " looks at all texts, and a part of this command is known only when it runs: a person must check whether the rule applies"
}

func largeText(rule string) string {
	return fmt.Sprintf("%s looks at an argument of more than %d KiB, too large for a condition: a person must check if it applies",
		rule, maxArgs>>10)
}
