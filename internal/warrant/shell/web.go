package shell

import (
	"path"
	"strings"
)

const curlValues = "AbcCdDeEFHhKmoPQrtTuUwxXyYz"

var curlLong = set(`--data --data-raw --data-binary --data-urlencode --data-ascii --form --form-string --upload-file --json
	--request --output --header --user --url --proxy --user-agent --referer --cookie --cookie-jar --max-time
	--connect-timeout --retry --retry-delay --write-out --config --cacert --cert --key --resolve --output-dir --range
	--dump-header --interface --limit-rate --max-redirs --netrc-file --oauth2-bearer --unix-socket --url-query --variable
	--expand-url --mail-from --mail-rcpt --socks5`)

var writing = set("POST PUT PATCH DELETE")

// curl reads curl and what takes its flags.
func (c *call) curl() {
	flags, rest := options(c.args, curlValues, curlLong)
	c.does |= NetworkRead
	c.curlBody(flags)
	for _, m := range valuesOf(flags, "-X", "--request") {
		if writing[strings.ToUpper(m)] {
			c.does |= NetworkWrite
		}
	}
	c.curlHeaders(flags)
	c.curlFile(valuesOf(flags, "-K", "--config"))
	if flags["--mail-rcpt"] != nil {
		c.does |= Mail | NetworkWrite
	}
	for _, a := range rest {
		c.address(a.Text)
	}
	for _, u := range valuesOf(flags, "--url", "--expand-url", "-x", "--proxy") {
		c.address(u)
	}
	for _, o := range valuesOf(flags, "-o", "--output") {
		c.written(o, flow{fetched: true})
	}
	for _, d := range flags["--output-dir"] {
		c.written(strings.TrimSuffix(d, "/")+"/x", flow{})
	}
	if anyFlag(flags, "-O", "--remote-name", "--remote-name-all", "-J") {
		c.download(rest)
	}
}

// curlBodies are the flags that carry something out, and what in their value is a file.
var curlBodies = []struct {
	flag string
	file bodyFile
}{
	{"-d", fileFirst}, {"--data", fileFirst}, {"--data-raw", fileFirst}, {"--data-binary", fileFirst},
	{"--data-urlencode", fileWithin}, {"--data-ascii", fileFirst}, {"-F", fileWithin}, {"--form", fileWithin},
	{"--form-string", fileFirst}, {"-T", fileAll}, {"--upload-file", fileAll}, {"--json", fileFirst},
}

type bodyFile int

const (
	fileFirst  bodyFile = iota // after a sign that stands first
	fileWithin                 // after a sign that stands anywhere
	fileAll                    // with a sign or without one
)

// curlBody reads what is sent.
func (c *call) curlBody(flags map[string][]string) {
	for _, b := range curlBodies {
		for _, v := range flags[b.flag] {
			c.does |= NetworkWrite
			if i := strings.LastIndexAny(v, "@<"); i == 0 || i > 0 && b.file == fileWithin || b.file == fileAll {
				c.reads(strings.TrimLeft(v[max(i, 0):], "@<"))
			}
		}
	}
}

// curlHeaders reads what is carried beside the body, where it comes out of a file.
func (c *call) curlHeaders(flags map[string][]string) {
	for _, f := range []string{"-H", "--header", "-b", "--cookie", "--url-query"} {
		for _, v := range flags[f] {
			if i := strings.IndexByte(v, '@'); i == 0 || i > 0 && f == "--url-query" {
				c.does |= NetworkWrite
				c.reads(v[i+1:])
			}
		}
	}
}

// curlFile reads the file that says what curl does: where it goes is decided there.
func (c *call) curlFile(files []string) {
	for _, f := range files {
		c.does |= NetworkWrite
		if f == "-" && c.in.known {
			for _, word := range strings.FieldsFunc(c.in.text, func(r rune) bool { return strings.ContainsRune(" =\"\n", r) }) {
				if strings.Contains(word, ".") {
					c.address(word)
				}
			}
			continue
		}
		c.address("file:" + f)
		c.reads(f)
	}
}

// keeping are the flags after which stands where an answer is kept.
var keeping = set("-o --output -O -P")

// carriesMade reports whether a program decides, when the line runs, some of what a client
// of the web asks for: the question is then a message.
func (c *call) carriesMade() bool {
	for i, a := range c.args {
		if a.flow.made && (i == 0 || !keeping[c.args[i-1].Text]) {
			return true
		}
	}
	return false
}

// askers are the programs whose questions are looked at that way.
var askers = set(`curl curlie xh xhs wget wget2 aria2c axel http https httpie ping ping6 dig nslookup host traceroute mtr
	drill getent whois lynx w3m links links2 elinks finger logger resolvectl`)

// download notes the files that are named after their addresses.
func (c *call) download(rest []Word) {
	for _, a := range rest {
		u, _, _ := strings.Cut(a.Text, "?")
		c.written(path.Base(u), flow{fetched: true})
	}
}

var wgetLong = set(`--output-document --post-data --post-file --method --body-data --body-file --header --user-agent
	--directory-prefix --timeout --tries --input-file --output-file --dir --out`)

// wget reads wget and other programs that keep what they fetch.
func (c *call) wget() {
	flags, rest := options(c.args, "oaeOPUiBtTwQADRIXldx", wgetLong)
	c.does |= NetworkRead
	if anyFlag(flags, "--post-data", "--post-file", "--body-data", "--body-file") {
		c.does |= NetworkWrite
	}
	for _, f := range valuesOf(flags, "--post-file", "--body-file") {
		c.reads(f)
	}
	for _, m := range flags["--method"] {
		if writing[strings.ToUpper(m)] {
			c.does |= NetworkWrite
		}
	}
	for _, a := range rest {
		c.address(a.Text)
	}
	outs := valuesOf(flags, "-O", "--output-document")
	if c.name != "wget" && c.name != "wget2" {
		outs = valuesOf(flags, "-o", "--out")
	}
	for _, o := range outs {
		c.written(o, flow{fetched: true})
	}
	for _, d := range valuesOf(flags, "-P", "--directory-prefix") {
		c.written(strings.TrimSuffix(d, "/")+"/x", flow{})
	}
	if len(outs) == 0 {
		c.download(rest)
	}
}

// httpie reads http METHOD URL field=value.
func (c *call) httpie() {
	flags, rest := options(c.args, "oaApP", set("--output --auth --auth-type --session --print --verify --timeout"))
	c.does |= NetworkRead
	for i, a := range rest {
		switch {
		case i == 0 && writing[strings.ToUpper(a.Text)]:
			c.does |= NetworkWrite
		case i == 0 && strings.ToUpper(a.Text) == a.Text && !strings.ContainsAny(a.Text, "./:"):
		case len(c.line.Addresses) == 0 || i < 2 && !strings.ContainsAny(a.Text, "=@"):
			c.address(a.Text)
		case strings.ContainsAny(a.Text, "=@"):
			c.does |= NetworkWrite
			if _, f, ok := strings.Cut(a.Text, "@"); ok {
				c.reads(f)
			}
		}
	}
	for _, o := range valuesOf(flags, "-o", "--output") {
		c.written(o, flow{fetched: true})
	}
}

var remoteLong = set("--rsh --exclude --include --filter --files-from --password-file --rsync-path --log-file --config")

// remote reads programs that copy between machines: host:path is the other one.
func (c *call) remote() {
	_, rest := options(c.args, "eFiIJlPopScX", remoteLong)
	c.remoteShell()
	last := len(rest) - 1
	for i, a := range rest {
		host, _, ok := strings.Cut(a.Text, ":")
		if strings.Contains(a.Text, "://") {
			host = a.Text
		}
		if ok = ok && !strings.HasPrefix(host, "/") && !strings.HasPrefix(host, "."); ok || c.name == "sftp" {
			c.does |= NetworkRead
			c.address(host)
		}
		switch {
		case ok && i == last:
			c.does |= NetworkWrite
		case i == last:
			c.written(a.Text, flow{fetched: c.does.Has(NetworkRead)})
		case !ok:
			c.reads(a.Text)
		}
	}
	if c.name == "sftp" {
		c.does |= NetworkWrite
	}
}

// remoteShell reads the program by which another machine is reached.
func (c *call) remoteShell() {
	for i, a := range c.args {
		if v, ok := strings.CutPrefix(a.Text, "--rsh="); ok {
			c.script(v, flow{})
		}
		if c.namesShell(a.Text) && i+1 < len(c.args) && c.args[i+1].Known {
			c.script(c.args[i+1].Text, flow{})
		}
		if c.name != "rsync" {
			c.sshOption(a)
		}
	}
}

// namesShell reports whether the word after a flag is that program.
func (c *call) namesShell(flag string) bool {
	if flag == "-e" || flag == "--rsh" {
		return true
	}
	return c.name == "rsync" && len(flag) < 8 && strings.HasPrefix(flag, "-") && strings.HasSuffix(flag, "e")
}

// raw reads programs that open a connection and send what they are given.
func (c *call) raw() {
	flags, rest := options(c.args, "cegGiIoOpPqsTVwWxX", nil)
	c.does |= NetworkRead
	if flags["-z"] == nil || c.in.given {
		c.does |= NetworkWrite
	}
	for _, a := range c.args {
		if a.Text == "-e" || a.Text == "-c" || a.Text == "--exec" || a.Text == "--sh-exec" {
			c.does |= RunsFetched // whoever is at the other end gets a program
		}
		low := strings.ToLower(a.Text)
		if strings.HasPrefix(low, "exec:") || strings.HasPrefix(low, "system:") {
			c.does |= RunsFetched
		} else if kind, v, ok := strings.Cut(a.Text, ":"); ok && c.name == "socat" && len(kind) > 2 {
			host, _, _ := strings.Cut(v, ":")
			c.address(host)
		}
	}
	if len(rest) > 0 && c.name != "socat" {
		c.address(rest[0].Text)
	}
}

// asks reads programs that only ask for a host: its name is what they carry.
func (c *call) asks() {
	_, rest := options(c.args, "cistwWpmnqIaAeETQSl", nil)
	c.does |= NetworkRead
	for _, a := range rest {
		if strings.ContainsAny(a.Text, ".$:") {
			c.address(strings.TrimPrefix(a.Text, "@"))
		}
	}
}
