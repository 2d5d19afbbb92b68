package shell

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// decode reads programs that undo an encoding.
func (c *call) decode() {
	flags, rest := options(c.args, "wfo", nil)
	if c.name == "openssl" && len(rest) > 0 && rest[0].Text == "s_client" {
		c.secureClient()
		return
	}
	undo := c.undoes(flags, rest)
	in := c.in
	for _, f := range rest {
		if c.name != "openssl" && c.name != "xxd" || strings.Contains(c.at(f.Text), "/") {
			in = in.join(c.opened(f))
		}
	}
	c.out = flow{fetched: in.fetched, decoded: in.decoded || undo, secret: in.secret, env: in.env}
	if undo && in.known && len(rest) == 0 {
		text := strings.Join(strings.Fields(in.text), "")
		raw, err := base64.StdEncoding.DecodeString(text)
		if c.name == "xxd" {
			raw, err = hex.DecodeString(text)
		}
		if err == nil && len(raw) <= maxCommand {
			c.out.text, c.out.known = string(raw), true
		}
	}
}

// undoes reports whether the flags say that an encoding is undone, not made.
func (c *call) undoes(flags map[string][]string, rest []Word) bool {
	if c.name == "openssl" {
		return len(rest) > 0 && (rest[0].Text == "enc" || rest[0].Text == "base64") && flags["-d"] != nil
	}
	return anyFlag(flags, "-d", "-D", "--decode", "-r")
}

// secureClient reads openssl s_client: what it is fed goes out.
func (c *call) secureClient() {
	c.does |= NetworkRead
	if c.in.given && (!c.in.known || len(c.in.text) > 8) {
		c.does |= NetworkWrite
	}
	for i, a := range c.args {
		if a.Text == "-connect" && i+1 < len(c.args) {
			c.address(c.args[i+1].Text)
		}
	}
}

// echo puts its words out.
func (c *call) echo() {
	args, line := c.args, "\n"
	if len(args) > 0 && args[0].Text == "-n" {
		args, line = args[1:], ""
	}
	escapes := c.name == "printf"
	if len(args) > 0 && args[0].Text == "-e" {
		args, escapes = args[1:], true
	}
	known := true
	for _, a := range args {
		c.out = c.out.join(a.flow)
		known = known && a.Known
	}
	text := strings.Join(texts(args), " ")
	if c.name == "printf" {
		var followed bool
		line = ""
		text, escapes, followed = formatted(args)
		known = known && followed
	}
	if escapes && known {
		known = !strings.Contains(text, `\c`) // which ends what is put out
		text = ansi(text)
	}
	home := c.name == "echo" && !escapes && !strings.ContainsAny(text, "$*?[{") // all that is left open is where that is
	plain := !strings.Contains(strings.TrimSuffix(text, `\`), `\`)              // at the end it stands for itself in every shell
	if (known || home) && (escapes || plain) && !c.flagged(text) {
		c.out.text, c.out.known = text+line, known
	}
}

// formatted is what printf makes of its words, whether escapes in it count, and whether its
// format is one that is followed here.
func formatted(args []Word) (text string, escapes, followed bool) {
	if len(args) > 1 && (args[0].Text == "%s" || args[0].Text == `%s\n`) {
		return strings.Join(texts(args[1:]), ""), false, len(args) == 2
	}
	text = strings.Join(texts(args), " ")
	return text, true, len(args) == 1 && !strings.Contains(text, "%")
}

// flagged reports whether what is put out starts with a flag of the program's own.
func (c *call) flagged(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	return strings.HasPrefix(first, "-") && (c.name != "echo" || strings.Trim(first[1:], "neE") == "")
}
