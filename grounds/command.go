package grounds

import (
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/meaning"
)

// What a command line can do that a coding session does not need, whatever it read.
var dangers = []struct {
	name string
	re   *regexp.Regexp
}{
	{"pipe-to-shell", regexp.MustCompile(`(?i)(?:curl|wget|base64\s+(?:-d|--decode)|xxd\s+-r)[^\n;]*\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\b(?:ba|z)?sh\s+-c\s+["']?\$\((?:curl|wget)|\beval\s+["']?\$\(`)},
	{"persist", regexp.MustCompile(`\bcrontab\b|\bauthorized_keys\b|(?:>>?|\btee\s+(?:-a\s+)?)\s*~?/?\S*(?:\.(?:bashrc|zshrc|profile|bash_profile)\b|\.git/hooks/|\.ssh/)|\bsystemctl\s+enable|\bchmod\s+\S*\+?s\b|/etc/(?:passwd|shadow|sudoers|cron)|\buseradd\b|\bvisudo\b`)},
	{"sends", regexp.MustCompile(`(?i)\b(?:python[0-9.]*|node|ruby|perl|php)\s+-(?:c|e|r)\b[^\n]*(?:urlopen|requests\.|http\.client|socket|fetch\(|https?\.(?:get|request)|net/http|LWP|file_get_contents|open\(['"]https?:)`)},
	{"wreck", regexp.MustCompile(`(?i)\brm\s+-\w*r\w*\s+(?:-\w+\s+)*(?:/|~|\$HOME|/\*|\.\.)(?:\s|$|/\s)|\bgit\s+clean\s+-\w*f\w*d|\bmkfs|\bdd\s[^\n]*of=/dev/|\bdrop\s+(?:table|database)\b`)},
}

var (
	// sending is a command that carries something out.
	sending = regexp.MustCompile(`(?i)\b(?:git\s+push|npm\s+publish|cargo\s+publish|docker\s+push|twine\s+upload|gem\s+push)\b|\bcurl\b[^|;&\n]*\s(?:-d|--data\S*|-F|--form|-T|--upload-file|-X\s*(?:POST|PUT|PATCH|DELETE))\b|\b(?:nc|ncat|netcat|ssh|scp|sftp|rsync|ftp|telnet|sendmail|mailx)\s+\S`)
	// network is a command that talks to the network at all.
	network = regexp.MustCompile("(?i)(?:^|[\\s;|&(`])(?:curl|wget|nc|ncat|netcat|ssh|scp|sftp|rsync|ftp|telnet|sendmail|mail|mailx|socat|gh|glab|aws|gcloud|az|kubectl|twine|httpie|http)\\s")
	// sensitivePath is where a write changes what a machine does next.
	sensitivePath = regexp.MustCompile(`(?:^|/)(?:\.ssh|\.gnupg|\.aws|\.config|\.github/workflows|\.git/hooks|\.bashrc|\.zshrc|\.profile|\.npmrc|\.netrc|\.env|crontab|authorized_keys)(?:/|$)|^/etc/`)
	address       = regexp.MustCompile(`(?i)(?:https?://|www\.)[^\s<>"')\]]+`)
	loopback      = regexp.MustCompile(`(?i)^https?://(?:localhost|127\.|0\.0\.0\.0|\[::1\])`)
	parts         = regexp.MustCompile(`&&|\|\||[;|\n]`)
)

func danger(command string) string {
	for _, d := range dangers {
		if d.re.MatchString(command) {
			return d.name
		}
	}
	return ""
}

// command weighs a command line on this machine. What stays here is the workspace's own;
// what leaves, stays after us or wrecks is looked at.
func (w *weighing) command(l *leaf) {
	c := w.c
	if c.index.Said(l.text) {
		w.linked = true
		return
	}
	if d := danger(l.text); d != "" {
		w.risk(d, l.text)
		return
	}
	if c.external {
		for _, part := range parts.Split(l.text, -1) {
			if part = strings.Trim(part, " \t\r&<>`"); !c.index.Said(part) && c.orderedOutside(part) {
				w.risk("from-text", part)
				return
			}
		}
	}
	w.leaves(l)
}

func (w *weighing) leaves(l *leaf) {
	c := w.c
	var urls []string
	for _, u := range address.FindAllString(l.text, -1) {
		if !loopback.MatchString(u) {
			urls = append(urls, strings.TrimRight(u, ".,;"))
		}
	}
	if sending.MatchString(l.text) {
		for _, u := range urls {
			if o := c.address(u).origin; o != User && o != System {
				w.risk("sends", u)
				return
			}
		}
		if c.external && len(urls) == 0 && !c.user.acts.has(meaning.Send) && !c.saysAny("push", "deploy", "publish", "release") {
			w.risk("sends", l.text)
		}
		return
	}
	if !network.MatchString(l.text) {
		return
	}
	for _, u := range urls {
		if o := c.address(u).origin; strings.Contains(u, "$") && (o == Unseen || c.external && o == Text) {
			w.risk("leaks", u)
			return
		}
	}
}

func (c *Context) saysAny(words ...string) bool {
	for _, w := range words {
		if c.user.tokens[w] {
			return true
		}
	}
	return false
}

func (w *weighing) risk(danger, value string) {
	w.g.Danger, w.g.Decisive = danger, value
	w.g.note("command", "command", value, source{where: nowhere})
}
