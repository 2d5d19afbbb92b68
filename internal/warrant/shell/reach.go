package shell

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// busyPorts are those that much else listens on: there it takes the name of this machine too.
var busyPorts = set("80 443 1080 3000 3001 4000 4200 5000 5173 8000 8001 8080 8081 8443 8888 9000")

func (r *Reader) port() string {
	if r.station.Port == "" {
		return usualPort
	}
	return r.station.Port
}

// Reaches reports whether an address is the station's own listener, however this machine is
// called: a name or a number of it, any name at all where hardly anybody else uses the port.
func (r *Reader) Reaches(address string) bool {
	return r.names(address) && (!busyPorts[r.port()] || loopback(address))
}

// names reports whether the port stands in a text by itself.
func (r *Reader) names(text string) bool {
	port, host := r.port(), len(text)
	if i := strings.Index(text, "://"); i >= 0 {
		if n := strings.IndexAny(text[i+3:], "/?#"); n >= 0 {
			host = i + 3 + n // what follows is no port, unless it is one of an address in it
		}
	}
	for i := 0; i < len(text); i++ {
		if !digit(text[i]) {
			continue
		}
		end := i
		for end < len(text) && digit(text[end]) {
			end++
		}
		before := (i < host || text[i-1] == ':') && (i == 0 || !letter(text[i-1]) && text[i-1] != '.' || text[0] == '-')
		after := end == len(text) || !letter(text[end])
		if before && after && strings.TrimLeft(text[i:end], "0") == port {
			return true
		}
		i = end
	}
	return false
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

var hostIn = regexp.MustCompile(`^(?:(?:[a-z][a-z0-9+.-]*:)?//)?(?:[^/@]*@)?(\[[^\]]*\]|[^/:?#]*)`)

// loopback reports whether an address is one of this machine, in any of the forms in which
// programs take it.
func loopback(address string) bool {
	address = strings.ToLower(address)
	host := address
	if m := hostIn.FindStringSubmatch(address); m != nil {
		host = m[1]
	}
	if strings.Count(address, ":") > 1 && !strings.Contains(address, "/") && address[0] != '[' {
		host = address // an address of six parts without brackets
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	switch {
	case host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasPrefix(host, "localhost.") ||
		strings.HasSuffix(host, "-localhost") || strings.HasSuffix(host, "-loopback"):
		return true
	case strings.Contains(host, "127.0.0.1") || strings.Contains(host, "127-0-0-1"):
		return true // also names that stand for the number in them
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsUnspecified()
	}
	return oldNumber(host)
}

// oldNumber reports whether a host is a number of this machine as old programs take it: fewer
// parts, or parts that are not decimal.
func oldNumber(host string) bool {
	parts := strings.Split(host, ".")
	if host == "" || len(parts) > 4 {
		return false
	}
	values := make([]uint64, len(parts))
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 0, 33)
		if err != nil {
			return false
		}
		values[i] = v
	}
	if len(parts) == 1 {
		return values[0] == 0 || values[0]>>24 == 127
	}
	return values[0] == 127 || !slices.ContainsFunc(values, func(v uint64) bool { return v != 0 })
}

// reachesUs reports whether the words a program is given lead to the station's listener.
func (c *call) reachesUs() bool {
	here := slices.ContainsFunc(c.args, func(a Word) bool { return loopback(a.Text) })
	for _, a := range c.args {
		if c.reader.Reaches(a.Text) || here && c.reader.names(a.Text) || here && a.flow.ours {
			return true
		}
		if a.flow.made && loopback(a.Text) && strings.Contains(a.Text, ":$") {
			return true // a program says which port
		}
	}
	return c.in.known && c.name != "git" && c.reader.Reaches(c.in.text)
}

// firewalls decide who may speak to whom.
var firewalls = set("iptables ip6tables iptables-legacy ebtables nft ufw pfctl firewall-cmd ipfw netsh tc")

var (
	drops = regexp.MustCompile(`(?i)\b(?:drop|reject|deny|block|redirect|dnat)\b`)
	wide  = regexp.MustCompile(`(?i)-P (?:INPUT|OUTPUT)|policy drop|\blo0?\b|127\.|localhost|default deny|panic-on`)
)

// shutsUs reports whether a firewall is told of the station's port, or of all of this machine.
func (c *call) shutsUs() bool {
	words := texts(c.args)
	if c.name == "ip" || c.name == "ifconfig" {
		return slices.Contains(words, "down") && (slices.Contains(words, "lo") || slices.Contains(words, "lo0"))
	}
	if !firewalls[c.name] {
		return false
	}
	all := strings.Join(words, " ") + " " + c.in.text
	return c.reader.names(all) || drops.MatchString(all) && wide.MatchString(all)
}
