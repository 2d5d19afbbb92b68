package shell

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// The names of files and folders that matter, without the folders above them.
var (
	startup = set(`.bashrc .zshrc .profile .bash_profile .bash_login .bash_logout .zprofile .zshenv .zlogin .kshrc .cshrc
		.tcshrc .inputrc .xinitrc .xsession .xprofile config.fish authorized_keys authorized_keys2 .rhosts .netrc .npmrc
		.pypirc .gitconfig .vimrc crontab sudoers rc.local ld.so.preload
		.gitlab-ci.yml .travis.yml .drone.yml azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile .pre-commit-config.yaml
		.envrc .mcp.json .aider.conf.yml pip.conf`)
	lasting = []string{
		".ssh", ".gnupg", ".aws", ".git/hooks", ".github/workflows", ".config/autostart", ".config/systemd", ".config/fish", ".config/git",
		".git/config", ".vscode/tasks.json", ".claude", ".codex", ".gemini", ".copilot", ".opencode", ".openclaw", ".kiro",
		".factory", ".cursor/hooks", "LaunchAgents", "LaunchDaemons", "/var/spool/cron", "/lib/systemd", "/usr/lib/systemd",
		"/Library/StartupItems", ".circleci", ".husky", ".local/bin",
	}
	// of the system's settings, those that run something or let somebody in
	system = []string{
		"passwd", "shadow", "group", "gshadow", "sudoers", "cron", "anacrontab", "profile", "bash", "zsh", "ssh/",
		"systemd/", "init", "rc", "pam", "ld.so", "environment",
		"hosts", "resolv.conf", "xdg/autostart", "update-motd.d", "udev/", "security/", "polkit", "dbus", "NetworkManager/",
		"network/", "modules", "inittab", "xinetd", "at.",
	}
	secretNames = set(`.env .netrc _netrc .npmrc .pypirc .pgpass .my.cnf .git-credentials .htpasswd .vault-token .dockercfg
		id_rsa id_dsa id_ecdsa id_ed25519 credentials credentials.json secrets.json shadow gshadow master.passwd
		login.keychain login.keychain-db wallet.dat key4.db logins.json kubeconfig secrets.yaml secrets.yml
		service-account.json terraform.tfvars .bash_history .zsh_history hosts.yml sam`)
	secretFolders = []string{
		".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".password-store",
		"Keychains", ".mozilla", "keyrings",
	}
	designFolders = []string{ // where tokens are colours
		"src", "styles", "design", "theme", "themes", "packages", "components", "assets", "testdata", "fixtures",
		"node_modules",
	}
	publicNames   = set("known_hosts config.d authorized_keys config hosts")
	publicEndings = []string{".pub", ".example", ".sample", ".template"}
	secretEndings = []string{".pem", ".p12", ".pfx", ".kdbx", ".keystore"}
)

// under reports whether a path goes through a folder, given with the folders around it. Many
// file systems take no notice of case, so neither does this.
func under(file, folder string) bool {
	file, folder = strings.ToLower(file), strings.ToLower(folder)
	if strings.HasPrefix(folder, "/") {
		return strings.HasPrefix(file, folder+"/") || file == folder
	}
	return strings.Contains("/"+file+"/", "/"+folder+"/")
}

func anyUnder(file string, folders []string) bool {
	for _, f := range folders {
		if under(file, f) {
			return true
		}
	}
	return false
}

// cleaned is a path without what changes nothing.
func cleaned(file string) string {
	file = strings.Trim(strings.TrimPrefix(file, "file://"), `"'`)
	if file == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(file, `\`, "/"))
}

// Lasting reports whether writing a file changes what the machine does, or lets in, later:
// start-up files, keys, hooks, timers, services, the system's own settings.
func Lasting(file string) bool {
	file = work(cleaned(file))
	if rest, ok := strings.CutPrefix(strings.ToLower(file), "/etc/"); ok {
		for _, p := range system {
			if strings.HasPrefix(rest, strings.ToLower(p)) {
				return true
			}
		}
	}
	return startup[strings.ToLower(path.Base(file))] || anyUnder(file, lasting) || Overseen(file)
}

// Secret reports whether a file by its name holds keys, tokens or passwords.
func Secret(file string) bool {
	file = cleaned(file)
	base := strings.ToLower(path.Base(file))
	switch {
	case endsIn(base, publicEndings):
		return false
	case base == "tokens.json":
		return !anyUnder(file, designFolders)
	case base == "environ" && under(file, "/proc"):
		return true
	case anyUnder(file, secretFolders):
		return !publicNames[base] || under(file, ".kube") || under(file, ".docker")
	case base == "shadow" || base == "sam" || base == "hosts.yml":
		return under(file, "/etc") || strings.Contains(strings.ToLower(file), "system32/config") || under(file, "gh")
	}
	return secretNames[base] || strings.HasPrefix(base, ".env.") || strings.HasPrefix(base, "id_rsa") || endsIn(base, secretEndings)
}

func endsIn(name string, endings []string) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(name, e) })
}

// secretPattern reports whether a shell's pattern may stand for such a file.
func secretPattern(file string) bool {
	if !strings.ContainsAny(file, "*?[") {
		return false
	}
	parts := strings.Split(cleaned(file), "/")
	for i, p := range parts {
		if !strings.ContainsAny(p, "*?[") || p[0] == '*' || strings.Trim(p, "*?.[]") == "" {
			continue // such a pattern means many files, not one
		}
		names := secretFolders
		if i == len(parts)-1 {
			names = slices.Collect(maps.Keys(secretNames))
		}
		for _, n := range names {
			if fits(p, []string{n}) && Secret(strings.Join(slices.Concat(parts[:i], []string{n}, parts[i+1:]), "/")) {
				return true
			}
		}
	}
	return false
}

// device reports whether a path is a disk.
func device(file string) bool {
	rest, ok := strings.CutPrefix(file, "/dev/")
	if !ok {
		return false
	}
	for _, d := range []string{"sd", "hd", "vd", "xvd", "nvme", "disk", "rdisk", "mmcblk", "mem", "kmem", "mapper/", "dm-", "loop"} {
		if strings.HasPrefix(rest, d) {
			return true
		}
	}
	return false
}

// everything reports whether removing a path takes a home, the system or all that is above
// the work at hand.
func everything(file string) bool {
	f := strings.TrimSuffix(strings.TrimSuffix(strings.Trim(file, `"'`), "*"), "/")
	if f != "" {
		f = settled(f)
	}
	switch f {
	case "", "~", "..":
		return file != ""
	}
	if strings.HasPrefix(f, "/") && strings.Count(f, "/") == 1 && f != "/tmp" {
		return true // the root, or a folder just below it
	}
	if strings.HasPrefix(f, "~") && !strings.Contains(f, "/") {
		return true // the home of somebody
	}
	if strings.HasPrefix(f, "$") && strings.HasSuffix(f, "/..") {
		return true
	}
	return homeOfOne(f) || strings.HasPrefix(f, "../..") && (strings.Trim(f, "./") == "" || climbs(f))
}

// homeOfOne reports whether a path is the home of one user.
func homeOfOne(f string) bool {
	return strings.Count(f, "/") == 2 && (strings.HasPrefix(f, "/home/") || strings.HasPrefix(f, "/Users/"))
}

// climbs reports whether a path goes up, most likely to the root, and down to one folder.
func climbs(f string) bool {
	ups := strings.Count(f, "../")
	rest := strings.TrimLeft(f, "./")
	return !strings.Contains(rest, "/") && (ups >= 6 || ups >= 2 && atRoot[rest])
}

var atRoot = set("home etc usr var root boot bin sbin lib lib64 opt srv Users System Library")
