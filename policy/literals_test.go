package policy_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/policy"
)

// A word that can never be equal to what it is compared with is a slip of the pen: the rule
// would never fire. It is refused, with its place and what may have been meant.
func TestWordsOfClosedSetsAreChecked(t *testing.T) {
	for when, want := range map[string]string{
		`act == "snd"`:                            `there is no act "snd"`,
		`"snd" != act`:                            `there is no act "snd"`,
		`act in ["send", "pai"]`:                  `there is no act "pai"`,
		`warrant.aimm == "said"`:                  `warrant has no slot "aimm"`,
		`has(warrant.amount)`:                     `warrant has no slot "amount"`,
		`warrant.aim == "sayd"`:                   `there is no evidence "sayd"`,
		`!(warrant.aim in ["said", "choosen"])`:   `there is no evidence "choosen"`, //nolint:misspell // on purpose
		`args.to.warrant == "nothing"`:            `there is no evidence "nothing"`,
		`warrant["to"] == "text"`:                 `there is no evidence "text"`,
		`act == "send" || act == "pay" && acts`:   "",
		`act in ["send", "pay", "unknown"]`:       "",
		`warrant.aim in ["said", "none", "free"]`: "",
		`args.to.warrant == "agent"`:              "",
		`args.act == "snd"`:                       "",
	} {
		_, faults := policy.Parse("p.yaml", []byte("rules:\n  - {name: r, effect: deny, when: '"+when+"'}\n"))
		switch {
		case want == "" && faults.Err() != nil:
			t.Errorf("%s: got %v, want no fault", when, faults)
		case want != "" && (faults.Err() == nil || !strings.Contains(faults.Error(), want) || !strings.Contains(faults.Error(), "p.yaml:2:")):
			t.Errorf("%s: got %v, want %q and its place", when, faults, want)
		}
	}
	_, faults := policy.Parse("p.yaml", []byte("rules:\n  - {name: r, effect: deny, when: 'acts && act == \"snd\"'}\n"))
	if len(faults) != 1 || faults[0].Col != 51 || faults[0].Hint != "did you mean send?" {
		t.Errorf("got %+v, want the word's own place and a hint", faults)
	}
}

// Tools are no closed set, so one that looks like a slip is warned about and no more.
func TestAToolThatLooksLikeASlipIsWarnedAbout(t *testing.T) {
	for text, want := range map[string]int{
		"rules:\n  - {name: r, effect: deny, when: 'calls[\"web_ftch\"] > 3'}\n":                                           1,
		"rules:\n  - {name: r, effect: deny, when: '\"web_ftch\" in results'}\n":                                           1,
		"rules:\n  - {name: r, effect: deny, when: 'tool == \"exce\"'}\n":                                                  1,
		"rules:\n  - {name: r, effect: deny, when: 'tool in [\"exec\", \"aplly_patch\"]'}\n":                               1,
		"rules:\n  - {name: r, effect: deny, tools: [exec, web_ftch]}\n":                                                   1,
		"rules:\n  - {name: r, effect: deny, when: 'calls[\"web_fetch\"] > 3 && results[\"Web_Fetch\"] > 1'}\n":            0,
		"rules:\n  - {name: r, effect: deny, when: 'calls[\"crm_customer_lookup\"] > 3'}\n":                                0,
		"rules:\n  - {name: r, effect: deny, when: 'calls[\"web_ftch\"] > 3'}\ntoolOutputTaints: {web_ftch: untrusted}\n":  0,
		"rules:\n  - {name: r, effect: deny, tools: [web_ftch]}\ntoolOverrides: {web_ftch: {\"*\": allow}}\n":              0,
		"policies:\n  - {name: p, action: {block_tools: [exce]}}\n":                                                        1,
		"rules:\n  - {name: r, effect: deny, tools: [\"web_*\"], when: 'calls[\"exec\"] > 1 && args.x == \"web_ftch\"'}\n": 0,
	} {
		set, faults := policy.Parse("p.yaml", []byte(text))
		if set == nil || len(faults) != want {
			t.Errorf("%s: got %v, want %d warnings", text, faults, want)
		}
	}
}
