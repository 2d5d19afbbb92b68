package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// ourName is what the station is called among processes, and ourLine how it was started.
const (
	ourName = "tidemark"
	ourLine = "tidemark serve"
)

// endsUs reports whether a program ends the station by its number, its name or its port, or
// ends everything.
func (c *call) endsUs() bool {
	words := texts(c.args)
	switch c.name {
	case "kill", "skill":
		for i, t := range words {
			if i > 0 && t == "-1" || t != "" && t == c.reader.station.PID {
				return true
			}
		}
		return slices.ContainsFunc(c.args, func(a Word) bool { return a.flow.ours })
	case "fuser":
		flags, _ := options(c.args, "", nil)
		return anyFlag(flags, "-k", "--kill", "-K") && slices.ContainsFunc(words, c.reader.names)
	case "pkill", "killall":
		return c.endsByName()
	}
	return false
}

// endsByName reads pkill and killall: what they look for may be us.
func (c *call) endsByName() bool {
	flags, rest := options(c.args, "uUtPgGsT", set("--signal --euid --uid --terminal --parent --user"))
	if len(rest) == 0 {
		return anyFlag(flags, "-u", "-U", "--euid", "--uid", "--user")
	}
	for _, a := range rest {
		switch {
		case !a.Known:
			continue
		case strings.Contains(strings.ToLower(a.Text), ourName):
			return true
		case c.name == "killall" && !anyFlag(flags, "-r", "--regexp"):
			continue
		}
		line := ourName
		if anyFlag(flags, "-f", "--full") {
			line = ourLine
		}
		if re, err := regexp.Compile("(?i)" + a.Text); err == nil && re.MatchString(line) {
			return true
		}
	}
	return false
}

// meansUs reports whether a word is our name, our port, or a pattern for one of them.
func (r *Reader) meansUs(text string) bool {
	low := strings.ToLower(text)
	if strings.Contains(low, ourName) || r.names(low) && !busyPorts[r.port()] {
		return true
	}
	if len(strings.Trim(low, "*?.[]")) < 2 || !strings.ContainsAny(low, "*?[") {
		return false
	}
	for _, n := range []string{ourName, ourName + ".service"} {
		if ok, err := path.Match(low, n); ok && err == nil {
			return true
		}
	}
	return false
}
