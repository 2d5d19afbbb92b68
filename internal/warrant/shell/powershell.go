package shell

import (
	"slices"
	"strings"
)

// ReadPowerShell reads a command for PowerShell or cmd by the words in it. It is no
// parser: what is written in an unusual way is not seen, so silence means even less than
// that of Read.
func ReadPowerShell(command string) *Line { return NewReader().ReadPowerShell(command) }

// ReadPowerShell reads such a command.
func (r *Reader) ReadPowerShell(command string) *Line {
	w := r.walk()
	if len(command) > maxCommand {
		w.unread()
		return w.done()
	}
	c := &call{walker: w, name: "powershell"}
	w.line.Parts = []string{command}
	w.line.Runs = []Run{{Name: "powershell", Path: "powershell"}}
	c.absorb(windowsText(command))
	low := strings.ToLower(command)
	if r.reachedFromWindows(low, c.does) || r.reachedFromWindows(unhidden(low), c.does) {
		c.does |= Oversight
	}
	w.line.Runs[0].Effects = c.does
	return w.done()
}

// reachedFromWindows reports whether a text, in small letters, asks us for more than a look, gets at our files or ends us.
func (r *Reader) reachedFromWindows(low string, does Effects) bool {
	if r.names(low) && (does.Has(Network) || mentions(low, windowsEnds)) {
		return true
	}
	return strings.Contains(low, "tidemark") && (mentions(low, windowsOurs) || slices.ContainsFunc(strings.Fields(low), isOurDeed))
}

// unhidden is a text without what may stand inside of a word in these shells and is no part of it.
func unhidden(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("`^'\"", r) {
			return -1
		}
		return r
	}, text)
}

// windows is what a text for a Windows shell does.
type windows struct {
	does      Effects
	addresses []string
}

func (c *call) absorb(w windows) {
	c.does |= w.does
	for _, a := range w.addresses {
		c.address(a)
	}
}

// powerShell reads the arguments of powershell.
func (c *call) powerShell() {
	for _, a := range c.args {
		low := strings.ToLower(a.Text)
		if len(low) > 1 && strings.HasPrefix("-encodedcommand", low) && strings.HasPrefix(low, "-e") && !strings.HasPrefix(low, "-ex") {
			c.does |= RunsFetched
			c.unread()
			return
		}
	}
	c.absorb(windowsText(strings.Join(texts(c.args), " ")))
}

var (
	windowsFetch = set(`invoke-webrequest iwr invoke-restmethod irm curl curl.exe wget wget.exe start-bitstransfer bitsadmin
		certutil certutil.exe downloadstring downloadfile net.webclient resolve-dnsname test-connection ping nslookup`)
	windowsSend  = set("uploadstring uploadfile uploaddata send-mailmessage scp ssh ftp")
	windowsRun   = set("iex invoke-expression")
	windowsWrite = set("set-content add-content out-file new-item copy-item move-item tee-object copy move ren mkdir md -outfile -o")
	windowsStay  = set("schtasks register-scheduledtask new-service set-itemproperty reg sc new-localuser add-localgroupmember $profile")
)

// What a text says of us when it gets at our files or ends us.
var (
	windowsEnds = []string{"stop-process", "taskkill", "stop-service", "get-nettcpconnection", "netfirewall", "advfirewall", "kill"}
	windowsOurs = append([]string{
		"tokens.json", "server.json", ".db", "approvals approve", "approvals deny", "approvals watch", "token new",
		"reset-trust", "uninstall",
	}, windowsEnds...)
)

// isOurDeed reports whether a word is a command of our own program by which it is answered, trusted or taken away.
// As parts of other words these are too common.
func isOurDeed(word string) bool { return ourDeeds[strings.Trim(word, "'\"`;|&(){},")] }

var ourDeeds = set("trust release prune restore revoke")

// windowsText looks for words.
func windowsText(text string) windows {
	low := strings.ReplaceAll(strings.ToLower(text), "`", "") // which only hides a word
	var out windows
	has := map[string]bool{}
	for _, f := range windowsWords(unhidden(low)) {
		has[f] = true
	}
	for _, f := range windowsWords(low) {
		has[f] = true
		if i := strings.LastIndexByte(f, '.'); i > 0 {
			has[f[i+1:]] = true
		}
		if strings.Contains(f, "://") {
			out.addresses = append(out.addresses, f)
		}
		if Secret(f) {
			out.does |= ReadsSecret
		}
	}
	out.does |= windowsDeeds(low, has, out.does)
	return out
}

func windowsWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&(){}'\"`,", r) })
}

// windowsDeeds is what the words of a text for a Windows shell do.
func windowsDeeds(low string, has map[string]bool, does Effects) Effects {
	any := func(words map[string]bool) bool {
		for w := range words {
			if has[w] {
				return true
			}
		}
		return false
	}
	if any(windowsFetch) {
		does |= NetworkRead
	}
	if any(windowsSend) || has["-infile"] || has["-body"] || has["post"] || has["put"] {
		does |= NetworkRead | NetworkWrite
	}
	if has["send-mailmessage"] {
		does |= Mail
	}
	if any(windowsRun) && (does.Has(Network) || strings.Contains(low, "frombase64string")) {
		does |= RunsFetched
	}
	if any(windowsWrite) || strings.Contains(low, ">") {
		does |= FileWrite
	}
	if any(windowsStay) {
		does |= Persist
	}
	return does | windowsHarm(low, has)
}

func windowsHarm(low string, has map[string]bool) Effects {
	var does Effects
	removes := has["remove-item"] || has["rm"] || has["del"] || has["rd"] || has["rmdir"] || has["ri"]
	if removes && (has["-recurse"] || has["-r"] || has["/s"]) {
		does |= Destructive | FileWrite
	}
	if has["format-volume"] || has["clear-disk"] || has["format"] {
		does |= Destructive | Wrecks
	}
	if has["runas"] {
		does |= Privilege
	}
	if strings.Contains(low, "-encodedcommand") {
		does |= Worst
	}
	if has["install-module"] || has["install-package"] || has["winget"] || has["choco"] {
		does |= Install | NetworkRead
	}
	return does
}
