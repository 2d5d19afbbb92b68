package shell

import "strings"

// plain are programs that do the same whatever their arguments say.
var plain = table()

func table() map[string]Effects {
	out := map[string]Effects{}
	for _, row := range []struct {
		does  Effects
		names string
	}{
		{Mail | NetworkRead | NetworkWrite, `himalaya mutt neomutt mail mailx s-nail nail sendmail msmtp alpine pine aerc
			mbsync isync offlineimap fetchmail getmail mblaze swaks gog gmailctl lieer gmi mutt_dotlock ssmtp exim`},
		{Mail, "notmuch mu mshow"},
		{NetworkRead, `lynx w3m links links2 elinks browsh yt-dlp youtube-dl gallery-dl playwright puppeteer chromium
			chromium-browser google-chrome firefox nmap whois ntpdate snmpget snmpwalk`},
		{NetworkRead | NetworkWrite, `telnet ftp lftp tftp rclone croc wormhole ngrok cloudflared mosh s3cmd mc smbclient
			sshfs twine xdg-open rdesktop`},
		{FileWrite, "mkdir ln ed ex"},
		{Destructive | Wrecks, "mkfs mke2fs wipefs fdisk sfdisk parted mkswap blkdiscard dropdb"},
		{Persist, `at batch anacron visudo vipw useradd adduser usermod groupadd addgroup chpasswd passwd ssh-copy-id
			launchctl update-rc.d chkconfig setcap insmod modprobe`},
		{Privilege, "sudo doas su runuser pkexec setcap nsenter visudo gosu"},
		{Destructive, "kill killall pkill reboot shutdown halt poweroff"},
	} {
		for n := range strings.FieldsSeq(row.names) {
			out[n] |= row.does
		}
	}
	return out
}

// known reads the programs whose arguments say what they do.
func (c *call) known() bool {
	switch c.name {
	case "curl", "curlie":
		c.curl()
	case "wget", "wget2", "aria2c", "axel":
		c.wget()
	case "http", "https", "httpie", "xh", "xhs":
		c.httpie()
	case "invoke-webrequest", "iwr", "invoke-restmethod", "irm":
		c.absorb(windowsText(c.name + " " + strings.Join(texts(c.args), " ")))
	case "scp", "rsync", "sftp":
		c.remote()
	case "nc", "ncat", "netcat", "socat":
		c.raw()
	case "ping", "ping6", "resolvectl", "finger", "dig", "nslookup", "host", "traceroute", "mtr", "drill", "getent":
		c.asks()
	case "git":
		c.git()
	case "gh", "glab", "hub", "tea", "aws", "gcloud", "az", "doctl", "heroku", "vercel", "netlify", "flyctl", "fly", "oc", "gsutil":
		c.service()
	case "terraform", "tofu", "pulumi", "helm", "serverless", "cdk", "ansible", "ansible-playbook":
		c.infrastructure()
	default:
		return c.local()
	}
	return true
}

// local reads programs that work on this machine.
func (c *call) local() bool {
	switch c.name {
	case "echo", "printf":
		c.echo()
	case "base64", "base32", "xxd", "openssl", "uudecode", "gbase64":
		c.decode()
	case "cp", "mv", "install", "ln", "rename":
		c.copies()
	case "tee", "touch", "truncate", "sponge", "mkfifo":
		c.touches()
	case "rm", "rmdir", "unlink", "shred", "wipe", "srm":
		c.removes()
	case "chmod", "chown", "chgrp", "setfacl", "chattr":
		c.modes()
	case "sed", "gsed":
		c.edits("sed")
	case "dd":
		c.dd()
	case "patch", "apply_patch", "applypatch":
		c.patches(c.args)
	case "tar", "unzip", "7z", "bsdtar", "gunzip", "cpio":
		c.unpacks()
	case "cd", "pushd", "popd", "chdir":
		c.enters()
	case "source", ".":
		if len(c.args) > 0 {
			c.sourced(c.args[0])
		}
	case "make", "gmake", "cmake", "ninja", "just", "task":
		c.builds()
	case "crontab", "systemctl", "security", "secret-tool", "pass", "gpg", "keyring", "op", "bw", "printenv",
		"psql", "mysql", "sqlite3", "mongosh", "redis-cli":
		c.keeper()
	default:
		return c.languages()
	}
	return true
}

// languages reads interpreters, package managers and plain readers of files.
func (c *call) languages() bool {
	_, manager := installs[c.name]
	base := strings.TrimRight(c.name, "0123456789.")
	switch {
	case manager && c.name != "bun":
		if c.name == "go" {
			c.golang()
		}
		if c.name == "npm" {
			c.scriptFlag()
		}
		c.packages()
	case c.name == "bun" && len(c.args) > 0 && installs["bun"][c.args[0].Text]:
		c.packages()
	case interpreters[c.name] || interpreters[base]:
		if base == "perl" || base == "ruby" {
			c.edits(base)
		}
		c.interpret()
	case readers[c.name]:
		if c.name == "zip" {
			c.archiveRuns()
		}
		c.read()
	case strings.HasPrefix(c.name, "mkfs."):
		c.does |= Destructive | Wrecks
	default:
		return false
	}
	return true
}

// tellsNames are what those that keep secrets are told to do without telling one.
var tellsNames = set("ls list find status version help")

// keeper reads programs that keep timers, services, secrets or tables.
func (c *call) keeper() {
	words := " " + strings.ToLower(strings.Join(texts(c.args), " ")) + " "
	says := func(list ...string) bool {
		for _, s := range list {
			if strings.Contains(words, s) {
				return true
			}
		}
		return false
	}
	switch c.name {
	case "crontab":
		if !says(" -l ") || says(" -r ", " -e ") {
			c.does |= Persist
		}
	case "systemctl":
		if says(" enable ", " link ", " edit ", " set-default ") {
			c.does |= Persist
		}
	case "security", "secret-tool", "pass", "keyring", "op", "bw":
		if _, rest := options(c.args, "", nil); len(c.args) > 0 && (len(rest) == 0 || !tellsNames[rest[0].Text]) {
			c.does |= ReadsSecret
			c.out.secret = true
		}
	case "gpg":
		if says("export-secret") {
			c.does |= ReadsSecret
			c.out.secret = true
		}
	case "printenv":
		c.out.env = true
	default: // databases
		if says("drop table", "drop database", "drop schema", "flushall", "flushdb", "dropdatabase") || says("truncate ") {
			c.does |= Destructive | Wrecks
		}
	}
}
