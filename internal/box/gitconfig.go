package box

import (
	"slices"
	"strings"
)

// maxConfig is the largest configuration of git that is read: one that is larger is no plain one.
const maxConfig = 64 << 10

// plainConfig reports whether a text of git's configuration has nothing but settings that run nothing. What it cannot read with
// certainty it does not call plain. The folder of the files is one that ours accepts.
func plainConfig(text string, ours func(folder string) bool) bool {
	if len(text) > maxConfig || strings.ContainsAny(text, "\\\x00\r") {
		return false
	}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			head, ok := strings.CutSuffix(line[1:], "]")
			if !ok {
				return false
			}
			if section, ok = configSection(head); !ok {
				return false
			}
		default:
			name, value, _ := strings.Cut(line, "=")
			if !plainSetting(section, strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value), ours) {
				return false
			}
		}
	}
	return true
}

// weightyOf are the settings of a configuration that say more than how git shows and joins things, as they stand there, or nothing if it
// cannot be read with certainty. To follow a branch of the same repository, or of a remote that is named, says no more.
func weightyOf(text string, remotes func(name string) bool) ([]string, bool) {
	if len(text) > maxConfig || strings.ContainsAny(text, "\\\x00\r") {
		return nil, false
	}
	var out []string
	section, head := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			inner, closed := strings.CutSuffix(line[1:], "]")
			var ok bool
			if section, ok = configSection(inner); !ok || !closed {
				return nil, false
			}
			head = inner
		default:
			name, value, _ := strings.Cut(line, "=")
			key, value := section+"."+strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
			light := slices.Contains(gitSettings.of("keys"), key) || key == "branch.*.remote" && (value == "." || remotes(value))
			if !light {
				out = append(out, head+"\n"+line)
			}
		}
	}
	return out, true
}

// lightChange reports whether one configuration says nothing of weight that another did not.
func lightChange(was, now string) bool {
	remotes := func(name string) bool { return strings.Contains(was, "[remote \""+name+"\"]\n") }
	one, ok := weightyOf(was, remotes)
	two, can := weightyOf(now, remotes)
	return was == now || ok && can && slices.Equal(one, two)
}

// configSection reads the inside of a section's brackets. A name in quotes becomes "*": names are anybody's.
func configSection(head string) (string, bool) {
	name, quoted, sub := strings.Cut(head, " ")
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return "", false
		}
	}
	if !sub {
		return strings.ToLower(name), name != ""
	}
	inner, ok := strings.CutPrefix(strings.TrimSpace(quoted), `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	return strings.ToLower(name) + ".*", ok && closed && !strings.ContainsAny(inner, `"[]`)
}

func plainSetting(section, name, value string, ours func(string) bool) bool {
	key := section + "." + name
	switch {
	case slices.Contains(gitSettings.of("places"), key):
		return plainPlace(value)
	case slices.Contains(gitSettings.of("folders"), key):
		return plainPlace(value) && ours != nil && ours(value)
	}
	return section != "" && plainKey(key)
}

// plainKey reports whether a setting of this name runs nothing, if its value is a plain one.
func plainKey(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	keys := gitSettings.of("keys")
	return slices.Contains(keys, key) || slices.Contains(keys, section+".*") || slices.Contains(gitSettings.of("places"), key) ||
		slices.Contains(gitSettings.of("folders"), key)
}

// plainPlace reports whether an address is one that git needs no helper of another name for.
func plainPlace(value string) bool {
	if value == "" || value[0] == '-' || strings.Contains(value, "::") || strings.ContainsAny(value, "\"'`$;|&<> \t") {
		return false
	}
	scheme, _, ok := strings.Cut(value, "://")
	return !ok || slices.Contains([]string{"https", "ssh", "git", "file", "http"}, scheme)
}
