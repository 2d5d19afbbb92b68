package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// looking are what subcommands of services mostly say when they only look.
var looking = set(`get list ls show view status describe diff checks log logs history info inspect search version help
	whoami top explain cat head check plan validate output api-resources config auth`)

// removing are what they say when they take away.
var removing = set("delete rm remove destroy terminate rb purge drop uninstall prune")

// service reads clients of a service that look or act by a verb: gh, aws, kubectl, az.
func (c *call) service() {
	flags, rest := options(c.args, "nRXfFHotpqjbl", serviceLong)
	c.does |= NetworkRead
	words := texts(rest)
	c.serviceVerbs(words[:min(len(words), 3)])
	look := c.looks(words) && c.looks(texts(c.unowned()))
	if len(words) > 0 && !look && words[0] != "api" || asksToWrite(words, flags) {
		c.does |= NetworkWrite
	}
	for _, w := range rest {
		if strings.Contains(w.Text, "://") {
			c.address(w.Text)
		}
	}
	c.serviceGrows(words)
	c.serviceBrings(words)
}

var (
	serviceLong = set(`--region --profile --namespace --output --query --method --field --raw-field --input --title --body
		--repo --context --kubeconfig --project --json --jq --label`)
	secretVerbs = set("secretsmanager secret get-parameter get-login-password print-access-token token")
)

// serviceVerbs reads the words a service is told first.
func (c *call) serviceVerbs(words []string) {
	for _, v := range words {
		first, _, _ := strings.Cut(v, "-")
		if removing[v] || removing[first] {
			c.does |= Destructive | NetworkWrite
		}
		if first == "get" && strings.Contains(v, "secret") || secretVerbs[v] {
			c.does |= ReadsSecret
		}
	}
}

// verbAt is how many words the verb is among, of clients that are told what it is done to behind it: that may be called like a look.
var verbAt = map[string]int{"gh": 2, "glab": 2, "hub": 2, "tea": 2, "aws": 2, "kubectl": 1, "oc": 1}

// verbGroups are the words of kubectl's behind which another one is the verb.
var verbGroups = set("rollout config auth certificate")

// looks reports whether the verb among the words that a service is told first only looks.
func (c *call) looks(words []string) bool {
	most := cmp.Or(verbAt[c.name], 3)
	if most == 1 && len(words) > 0 && verbGroups[words[0]] {
		most = 2
	}
	return slices.ContainsFunc(words[:min(len(words), most)], func(v string) bool {
		first, _, _ := strings.Cut(v, "-")
		return looking[v] || looking[first]
	})
}

// unowned are the words that are no value of any option, whatever the options take.
func (c *call) unowned() []Word {
	var out []Word
	for i, a := range c.args {
		option := func(t string) bool { return strings.HasPrefix(t, "-") && !strings.Contains(t, "=") }
		if !strings.HasPrefix(a.Text, "-") && (i == 0 || !option(c.args[i-1].Text)) {
			out = append(out, a)
		}
	}
	return out
}

// asksToWrite reports whether the bare API of a service is called to change something.
func asksToWrite(words []string, flags map[string][]string) bool {
	if len(words) == 0 || words[0] != "api" || !anyFlag(flags, "-X", "--method", "-f", "-F", "--field", "--input") {
		return false
	}
	return !slices.Contains(valuesOf(flags, "-X", "--method"), "GET")
}

// serviceGrows reads what makes a client do more from now on.
func (c *call) serviceGrows(words []string) {
	if len(words) < 2 {
		return
	}
	last := words[len(words)-1]
	switch {
	case len(words) > 2 && (words[0] == "alias" || words[0] == "config") && words[1] == "set" && strings.ContainsAny(last, " !/"):
		c.does |= Persist | c.started(strings.TrimPrefix(last, "!"))
	case c.name == "kubectl" && words[0] == "config" && (words[1] == "set" || words[1] == "set-cluster" || words[1] == "set-credentials"):
		c.does |= Persist // whom it speaks to from now on, and as whom
	case (words[0] == "extension" || words[0] == "plugin") && words[1] == "install":
		c.does |= Install
		c.newer = true
	}
}

// cluster reads kubectl.
func (c *call) cluster() {
	c.service()
	i := slices.IndexFunc(c.args, func(a Word) bool { return a.Text == "--" })
	if slices.ContainsFunc(c.args, func(a Word) bool { return a.Text == "exec" }) && i >= 0 {
		c.may(c.args[i+1:])
	}
}

var (
	rollingOut = set("apply up install upgrade deploy push publish import")
	bringingIn = set("init plan pull refresh")
	renewing   = set("-upgrade --upgrade -upgrade=true --upgrade=true")
)

// infrastructure reads terraform, helm and others with one verb.
func (c *call) infrastructure() {
	_, rest := options(c.args, "nf", nil)
	if len(rest) == 0 {
		return
	}
	if slices.ContainsFunc(c.args, func(a Word) bool { return renewing[a.Text] }) {
		c.does |= Install // programs of others, which run
		c.newer = true
	}
	second := ""
	if len(rest) > 1 {
		second = rest[1].Text
	}
	switch v := rest[0].Text; {
	case v == "output", v == "console", v == "show" && c.name != "helm", v == "state" && (second == "pull" || second == "show"):
		c.does |= ReadsSecret // what a plan hides is in clear there
	case removing[v]:
		c.does |= NetworkWrite | NetworkRead | Destructive
	case rollingOut[v]:
		c.does |= NetworkWrite | NetworkRead
	case bringingIn[v]:
		c.does |= NetworkRead
	}
}

// serviceBrings reads what a client of a service puts here: the work of others.
func (c *call) serviceBrings(words []string) {
	if len(words) < 2 || c.name != "gh" && c.name != "glab" && c.name != "hub" {
		return
	}
	switch words[0] + " " + words[1] {
	case "repo clone":
		c.does |= FileWrite
		c.bring(path.Base(strings.TrimSuffix(words[len(words)-1], ".git")))
	case "release download", "run download", "gist clone":
		c.does |= FileWrite
		c.line.Spills = true
	case "pr checkout", "mr checkout", "pr co":
		c.does |= FileWrite | NetworkRead
		c.strangers(words[2:])
	}
}
