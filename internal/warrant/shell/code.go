package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// What code in some language says when it does a thing. These are words, not a parser:
// a word that is there counts, and only words that are there count.
var (
	codeNetwork = []string{
		"urlopen", "urllib.request", "urlretrieve", "requests.", "import requests", "httpx", "http.client", "aiohttp",
		"socket", "fetch(", "http.get", "https.get",
		"http.request", "https.request", "axios", "net/http", "net::http", "lwp", "io::socket", "file_get_contents('http",
		"file_get_contents(\"http", "curl_exec",
		"xmlhttprequest", "ftplib", "paramiko", "boto3", "open('http", "open(\"http", "open-uri", "net.connect",
		"net.createconnection", "dns.", "gethostby", "/inet/", "websocket",
		"copy('http", "copy(\"http", "readfile('http", "readfile(\"http", "fopen('http", "fopen(\"http", "fsockopen",
		"tcpstream", "std::net", "reqwest", "ureq::", "hyper::", "httpclient", "java.net.", "urlconnection",
		"okhttp", "webclient", "system.net",
		"urlsession", "curl_easy",
		"getprint", "getstore", "uri.open", "pycurl", "urllib3", "tls.connect", "dgram",
		"net.dial", "tls.dial", "net.listen", "websocket", "grpc.", "tcpsocket", "udpsocket", "unixsocket", "http.post", "http.do",
		"require('http", "require(\"http", "require('net'", "require(\"net\"", "telnetlib", "xmlrpc", "nntplib", "do shell script \"curl",
	}
	codeMail    = []string{"smtplib", "nodemailer", "net/smtp", "net::smtp", "imaplib", "poplib", "mail("}
	codeProcess = []string{
		"os.system", "subprocess", "popen", "os.exec", "os.spawn", "pty.spawn", "child_process", "execsync", "spawnsync",
		"system(", "system ", "exec(", "exec ", "shell_exec",
		"processbuilder", "getruntime", "command::new", "process.start",
		"passthru", "proc_open", "qx", "open3", "kernel.", "deno.command", "bun.spawn", "do shell script", "`", "getline",
		"exec.command", "os/exec", "startprocess", "syscall.exec", "execl", "execv", "posix_spawn", "fork(", "spawn(", "spawn ", "%x",
		"pty.",
		"createprocess", "wordexp(", "io.popen", "os.execute", "process.run", "process(\"", "runtime.exec", "execute_process",
		"go:generate", "node_options",
		"'system'", "\"system\"", "'popen'", "\"popen\"", "__import__(", "getattr(",
	}
	codeStarts = []string{"os.system(", "os.popen(", "subprocess.", "system(", "execsync(", "shell_exec(", "passthru(", "exec(",
		"exec.command(", "os.startprocess(", "syscall.exec(", "posix_spawn", "execl", "execv", "spawn(", "os.execute(", "io.popen(",
		"pty.spawn("}
	codeBlind = []string{"system('$", "system(\"$", "popen('$", "popen(\"$"}
	codeWrite = []string{
		"'w'", "\"w\"", "'a'", "\"a\"", "'wb'", "\"wb\"", "'ab'", "\"ab\"", "'x'", "'r+'", "\"r+\"", "write_text",
		"write_bytes", "writefile", "appendfile", "createwritestream",
		"mode='a", "mode=\"a", "mode='w", "mode=\"w", "'a+'", "'w+'", "symlink",
		"file.write", "file_put_contents", "os.rename", "shutil.", "os.makedirs", "os.mkdir", ".mkdir(", "os.chmod", "to_csv", "savefig",
	}
	codeRemove = []string{
		"rmtree", "os.remove", "os.unlink", ".unlink(", "unlink(", "rmsync", "fs.rm", "rm_rf", "rimraf", "fileutils.rm",
		"unlinksync", "os.rmdir",
	}
	codeDecode = []string{
		"b64decode", "base64", "fromhex", "unhexlify", "atob(", "fromcharcode", "marshal.loads", "codecs.decode",
		"pack(\"h", "pack('h", "zlib.decompress", "chr(",
	}
	codeExecute = []string{
		"exec(", "eval(", "eval ", "compile(", "__import__(", "new function(", "vm.run", "instance_eval", "loadstring(",
		"require('child_process", "importlib",
	}
	codeSecret = []string{
		"os.environ)", "os.environ.items", "dict(os.environ", "json.dumps(dict(os.environ", "process.env)", "%env",
		"env.to_h",
	}
)

func mentions(code string, list []string) bool {
	for _, w := range list {
		if strings.Contains(code, w) {
			return true
		}
	}
	return false
}

// source says what code does, by the words in it and the texts it quotes.
func (w *walker) source(code string) Effects {
	if len(code) > maxCommand {
		w.unread()
		return Worst
	}
	code = joined.ReplaceAllString(code, "")
	low := unusedImports(strings.ToLower(code))
	var does Effects
	if mentions(low, codeNetwork) {
		does |= NetworkRead | NetworkWrite
	}
	if mentions(low, codeMail) {
		does |= Mail | NetworkRead | NetworkWrite
	}
	if mentions(low, codeWrite) || mentions(low, codeRemove) {
		does |= FileWrite
	}
	if mentions(low, codeRemove) {
		does |= Destructive
	}
	if mentions(low, codeExecute) && (does.Has(Network) || mentions(low, codeDecode)) {
		does |= RunsFetched
	}
	if does.Has(Network) && mentions(low, codeSecret) {
		does |= ReadsSecret
	}
	if mentions(low, codeStarts) && len(quoted(code)) == 0 || mentions(low, codeBlind) {
		w.unread() // it starts something, and nothing here says what
	}
	if does.Has(FileWrite) && w.codeWrites(code) {
		w.line.Hidden = true
	}
	from := len(w.line.Scripts)
	for _, m := range importing.FindAllStringSubmatch(code, maxNamed) {
		does |= w.loads(m[1] + m[2])
	}
	for i := range w.line.Scripts[from:] {
		w.line.Scripts[from+i].Part = true
	}
	w.codeTouches(code)
	does |= w.codeOversees(code, does)
	return does | w.quotes(code, does, mentions(low, codeProcess))
}

// importing is where code takes in a module.
var importing = regexp.MustCompile(`(?m)\b(?:import|from)\s+([A-Za-z_][\w.]*)` +
	`|\b(?:require|import|from|__import__|import_module)\s*\(?\s*['"](\.{0,2}/?[\w./-]+)['"]`)

// joined is where code puts two quoted texts together.
var joined = regexp.MustCompile(`"\s*[+.]\s*"|'\s*[+.]\s*'`)

// asksItself are uses of network modules that ask nobody else.
var asksItself = strings.NewReplacer("requests.__version__", "", "socket.gethostname()", "", "socket.getfqdn()", "")

// unusedImports takes away modules that are imported and then only asked about themselves.
func unusedImports(low string) string {
	out := asksItself.Replace(low)
	for _, module := range []string{"requests", "socket"} {
		whole := "import " + module
		part := strings.Contains(out, module+" as ") || strings.Contains(out, whole+".")
		if strings.Count(out, module) == 1 && strings.Contains(out, whole) && !part {
			out = strings.Replace(out, whole, "", 1)
		}
	}
	return out
}

// quotes looks at the texts that code quotes: files, addresses and, where it starts
// programs, their commands.
func (w *walker) quotes(code string, does Effects, starts bool) Effects {
	low := strings.ToLower(code)
	list := quoted(code)
	brings := does.Has(NetworkRead) || slices.ContainsFunc(list, w.isFetched)
	for _, q := range list {
		switch {
		case strings.Contains(q, "://"):
			if !strings.ContainsAny(q, " \n") {
				w.address(q)
			}
		case !strings.ContainsAny(q, " \n") && (strings.ContainsAny(q, "./") || w.where.now != "" && q != ""):
			if brings && fileLike(q) {
				w.bring(q) // what came from elsewhere may be put there
			}
			does |= w.named(q, low, does)
		}
		if starts && len(q) > 2 {
			does |= w.started(q)
		}
	}
	for _, l := range listed(code) {
		if starts || does.Has(Network) || mentions(l, hints) {
			does |= w.started(l)
		}
	}
	return does
}

// named is what code does to a file that it names.
func (w *walker) named(q, low string, does Effects) Effects {
	if w.isFetched(q) && mentions(low, codeExecute) {
		does |= RunsFetched
	}
	if Secret(q) || w.where.now != "" && Secret(w.at(q)) && strings.Contains(low, "open") {
		w.reads(q)
	}
	if does.Has(FileWrite) {
		does |= w.stays(w.at(q))
		if overseenFolder(q) {
			does |= Persist | Oversight // code puts paths together
		}
	}
	if does.Has(Destructive) && slices.ContainsFunc(w.everywhere(q), everything) {
		does |= Wrecks
	}
	return does
}

// started is what a quoted text does if it is a command; most are not, and those count
// only by the programs this package knows.
func (w *walker) started(text string) Effects {
	if w.depth >= maxDepth || w.parsed+len(text) > maxParsed {
		w.unread()
		return Worst
	}
	inner := w.reader.walk()
	inner.depth, inner.parsed, inner.fetched = w.depth+1, w.parsed, w.fetched
	inner.script(text, flow{})
	w.parsed = inner.parsed
	l := inner.done()
	found := l.Found &^ Unparsed
	if l.Effects.Has(Unparsed) && found.Has(Network|RunsFetched|Oversight) {
		w.unread() // a command, and one that cannot be followed
	}
	for _, r := range l.Runs {
		if r.Effects != 0 && len(w.line.Runs) < maxRuns {
			r.Guess = true
			w.line.Runs = append(w.line.Runs, r)
		}
	}
	for _, a := range l.Addresses {
		w.address(a)
	}
	return found
}

// quoted are the texts between quotes, of any kind.
func quoted(code string) []string {
	var out []string
	for i := 0; i < len(code) && len(out) < maxNamed; i++ {
		q := code[i]
		if q != '\'' && q != '"' && q != '`' {
			continue
		}
		end := i + 1
		for end < len(code) && code[end] != q {
			if code[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(code) {
			break
		}
		out = append(out, code[i+1:end])
		i = end
	}
	for _, m := range rubyQuoted.FindAllStringSubmatch(code, maxNamed) {
		out = append(out, m[1])
	}
	return out
}

// rubyQuoted is a command in Ruby's other kind of quotes.
var rubyQuoted = regexp.MustCompile(`(?s)%x[(\[{<|!](.*?)[)\]}>|!]`)

// hints are what a line must mention to be worth reading as a command.
var hints = []string{"curl", "wget", "base64", "fetch", "http", "nc ", "/dev/tcp", "iex", "xxd"}

// maxHinted bounds how many lines of a file are read.
const maxHinted = 100

// Planted finds the commands in the text of a file, whatever its language, that run what
// they fetch or decode: lines of a makefile or script, and commands that code quotes. It
// reads lines that mention such a thing, and no more than a hundred of them.
func Planted(text string) []*Line {
	var out []*Line
	r := NewReader()
	hinted := 0
	for l := range strings.Lines(text) {
		if len(l) > maxCommand || !mentions(l, hints) {
			continue
		}
		if hinted++; hinted > maxHinted {
			break
		}
		l = strings.TrimPrefix(strings.TrimLeft(l, " \t@-+"), "RUN ")
		for _, candidate := range append(quoted(l), l) {
			if !strings.ContainsAny(candidate, " \t") {
				continue
			}
			if line := r.Read(candidate); line.Found.Has(RunsFetched) {
				out = append(out, line)
				break
			}
		}
	}
	return out
}

// opening is where code opens a file, makes a path or writes one, with the name it is given.
var opening = regexp.MustCompile(`(?i)\b(?:open|fopen|path|purepath|posixpath|write_?file\w*|append_?file\w*|createwritestream` +
	`|file_put_contents|file\.write|file\.open|rename\w*|copy\w*|move|symlink\w*|link\w*|replace)\s*\(\s*((?:[^,()\n]|\([^()\n]*\))*)`)

// codeDisguise are what code says when it puts a name together out of what is none.
var codeDisguise = append([]string{
	"''.join", `"".join`, "[::-1]", "reversed(", "string.fromcharcode", "charcodeat", "rot13", "maketrans", "\\x",
}, codeDecode...)

// codeWrites notes the files that code may write: every text in it that looks like one. It
// reports whether it may write others, whose names the text does not show.
func (w *walker) codeWrites(code string) (hidden bool) {
	list := quoted(code)
	for _, q := range list {
		if len(q) < 200 && fileLike(q) {
			for _, f := range w.everywhere(q) {
				note(&w.line.Writes, f)
				note(&w.line.Leaves, f)
			}
			w.makes(Made{File: w.at(q), Text: strings.Join(list, "\n"), Part: true})
		}
	}
	low := strings.ToLower(code)
	disguised := mentions(low, codeDisguise)
	for _, m := range opening.FindAllStringSubmatch(code, maxNamed) {
		if hides(strings.TrimSpace(m[1]), code, disguised) {
			return true
		}
	}
	return false
}

// fileLike reports whether a text in code may name a file.
func fileLike(q string) bool {
	if strings.ContainsAny(q, " \n\t(){}<>;,") || strings.Contains(q, "://") {
		return false
	}
	return strings.Contains(q, "/") || strings.ContainsRune(strings.TrimRight(q, "."), '.') || Lasting(q)
}

var (
	identifier = regexp.MustCompile(`^[A-Za-z_][\w.]*$`)
	composing  = regexp.MustCompile(`[+%]|\{|(?i)join|format|concat`)
	wholeText  = regexp.MustCompile(`^[A-Za-z]{0,2}(?:'[^'{]*'|"[^"{]*")$`)
)

// hides reports whether what names a file in code does not show the name. Disguised says that
// the code makes text out of what is none.
func hides(name, code string, disguised bool) bool {
	if identifier.MatchString(name) {
		if at := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\s*=\s*([^=\n][^\n;]*)`).FindStringSubmatch(code); at != nil {
			name = strings.TrimSpace(at[1])
		}
	}
	switch {
	case name == "" || wholeText.MatchString(name):
		return false
	case disguised:
		return true
	case !composing.MatchString(name):
		return false
	}
	list := quoted(name)
	return len(list) == 0 || !plainEnding(list[len(list)-1])
}

// plainEnding reports whether a name ends like a file that is looked at or edited.
func plainEnding(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return dataFiles[ext] || codeEndings[ext] || shellEndings[ext] && ext != ".envrc"
}

// reading is where code only looks at a file: a call of this name with nothing else in it but its name, or the
// mode for reading.
var reading = regexp.MustCompile(`(?i)(?:\bopen|readfile(?:sync)?|read_text|file_get_contents|file\.read|file\.open` +
	`|exists(?:sync)?|isfile|stat(?:sync)?|load|path|getsize|fopen)` +
	`\s*\(\s*[rb]?['"]([^'"\n]*)['"]\s*(?:,\s*['"](?:r|rb|rt|utf-?8)['"]\s*)?\)`)

// codeTouches notes the files that last among the texts of code, but for those that it only looks at.
func (w *walker) codeTouches(code string) {
	looked := map[string]int{}
	for _, m := range reading.FindAllStringSubmatch(code, maxNamed) {
		looked[m[1]]++
	}
	for _, q := range quoted(code) {
		if looked[q]--; looked[q] < 0 && fileLike(q) {
			w.mayWrite(q)
		}
	}
}

// listed are the commands that code gives word by word: ["curl", "-d", "@notes", address].
func listed(code string) []string {
	var out []string
	for _, m := range wordList.FindAllString(code, maxNamed) {
		var words []string
		for _, q := range quoted(m) {
			words = append(words, "'"+strings.ReplaceAll(q, "'", `'\''`)+"'")
		}
		if len(words) > 1 {
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

// wordList is a row of quoted texts, as a list or as the arguments of a call, also of one for each.
var wordList = regexp.MustCompile(`(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')` +
	`(?:\s*[,)]\s*(?:\.\s*args?\(\s*)?[\[&{]*\s*(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))+`)
