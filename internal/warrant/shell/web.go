package shell

import (
	"path"
	"slices"
	"strings"
)

const curlValues = "AbcCdDeEFHhKmoPQrtTuUwxXyYz"

var curlLong = set("--data --data-raw --data-binary --data-urlencode --data-ascii --form --form-string --upload-file --json --request --output --header --user --url --proxy " +
	"--user-agent --referer --cookie --cookie-jar --max-time --connect-timeout --retry --retry-delay --write-out --config --cacert --cert --key --resolve --output-dir --range " +
	"--dump-header --interface --limit-rate --max-redirs --netrc-file --oauth2-bearer --unix-socket --url-query --variable --expand-url --mail-from --mail-rcpt --socks5")

var writing = set("POST PUT PATCH DELETE")

// curl reads curl and what takes its flags.
func (c *call) curl() {
	flags, rest := options(c.args, curlValues, curlLong)
	c.does |= NetworkRead
	for _, f := range []string{"-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "-F", "--form", "--form-string", "-T", "--upload-file", "--json"} {
		for _, v := range flags[f] {
			c.does |= NetworkWrite
			if i := strings.LastIndexAny(v, "@<"); i >= 0 && (i == 0 || f == "-F" || f == "--form" || f == "--data-urlencode") || f == "-T" || f == "--upload-file" {
				c.reads(strings.TrimLeft(v[max(i, 0):], "@<"))
			}
		}
	}
	for _, m := range slices.Concat(flags["-X"], flags["--request"]) {
		if writing[strings.ToUpper(m)] {
			c.does |= NetworkWrite
		}
	}
	c.curlHeaders(flags)
	c.curlFile(slices.Concat(flags["-K"], flags["--config"]))
	if flags["--mail-rcpt"] != nil {
		c.does |= Mail | NetworkWrite
	}
	for _, a := range rest {
		c.address(a.Text)
	}
	for _, u := range slices.Concat(flags["--url"], flags["--expand-url"], flags["-x"], flags["--proxy"]) {
		c.address(u)
	}
	for _, o := range slices.Concat(flags["-o"], flags["--output"]) {
		c.written(o, flow{fetched: true})
	}
	for _, d := range flags["--output-dir"] {
		c.written(strings.TrimSuffix(d, "/")+"/x", flow{})
	}
	if flags["-O"] != nil || flags["--remote-name"] != nil || flags["--remote-name-all"] != nil || flags["-J"] != nil {
		c.download(rest)
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

// carriesMade reports whether a program decides, when the line runs, some of what a client
// of the web asks for: the question is then a message.
func (c *call) carriesMade() bool {
	for i, a := range c.args {
		if !a.flow.made || i > 0 && (c.args[i-1].Text == "-o" || c.args[i-1].Text == "--output" || c.args[i-1].Text == "-O" || c.args[i-1].Text == "-P") {
			continue
		}
		return true
	}
	return false
}

// askers are the programs whose questions are looked at that way.
var askers = set("curl curlie xh xhs wget wget2 aria2c axel http https httpie ping ping6 dig nslookup host traceroute mtr drill getent whois lynx w3m links links2 elinks finger logger resolvectl")

// download notes the files that are named after their addresses.
func (c *call) download(rest []Word) {
	for _, a := range rest {
		u, _, _ := strings.Cut(a.Text, "?")
		c.written(path.Base(u), flow{fetched: true})
	}
}

// wget reads wget and other programs that keep what they fetch.
func (c *call) wget() {
	flags, rest := options(c.args, "oaeOPUiBtTwQADRIXldx", set("--output-document --post-data --post-file --method --body-data --body-file --header --user-agent --directory-prefix --timeout --tries --input-file --output-file --dir --out"))
	c.does |= NetworkRead
	if flags["--post-data"] != nil || flags["--post-file"] != nil || flags["--body-data"] != nil || flags["--body-file"] != nil {
		c.does |= NetworkWrite
	}
	for _, f := range slices.Concat(flags["--post-file"], flags["--body-file"]) {
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
	outs := slices.Concat(flags["-O"], flags["--output-document"])
	if c.name != "wget" && c.name != "wget2" {
		outs = slices.Concat(flags["-o"], flags["--out"])
	}
	for _, o := range outs {
		c.written(o, flow{fetched: true})
	}
	for _, d := range slices.Concat(flags["-P"], flags["--directory-prefix"]) {
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
	for _, o := range slices.Concat(flags["-o"], flags["--output"]) {
		c.written(o, flow{fetched: true})
	}
}

// remote reads programs that copy between machines: host:path is the other one.
func (c *call) remote() {
	_, rest := options(c.args, "eFiIJlPopScX", set("--rsh --exclude --include --filter --files-from --password-file --rsync-path --log-file --config"))
	for i, a := range c.args {
		if v, ok := strings.CutPrefix(a.Text, "--rsh="); ok {
			c.script(v, flow{})
		}
		if (a.Text == "-e" || a.Text == "--rsh" || strings.HasPrefix(a.Text, "-") && strings.HasSuffix(a.Text, "e") && c.name == "rsync" && len(a.Text) < 8) && i+1 < len(c.args) && c.args[i+1].Known {
			c.script(c.args[i+1].Text, flow{})
		}
		if c.name != "rsync" {
			c.sshOption(a)
		}
	}
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
