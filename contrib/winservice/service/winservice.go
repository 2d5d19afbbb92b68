// Package service has Windows run a program as a service. Elsewhere there is none, and it says so.
package service

import "strings"

// Definition is a service as Windows is told of it.
type Definition struct {
	Name    string
	Title   string
	About   string
	Program string
	Args    []string
	Account string // a virtual account, which has no password
}

// String is the definition as somebody would type it, for those who want to see it first.
func (d Definition) String() string {
	line := quote(d.Program)
	for _, a := range d.Args {
		line += " " + quote(a)
	}
	return `sc.exe create ` + d.Name + ` binPath= ` + quote(line) + ` start= auto obj= ` + quote(d.Account) +
		` DisplayName= ` + quote(d.Title) + "\n" +
		`sc.exe description ` + d.Name + ` ` + quote(d.About) + "\n" +
		`sc.exe failure ` + d.Name + ` reset= 3600 actions= restart/1000` + "\n" +
		`sc.exe start ` + d.Name + "\n"
}

// quote is one argument as Windows programs take their command line apart.
func quote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\"") {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for _, c := range []byte(s) {
		switch c {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1)) // each before a quote counts twice
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(c)
	}
	b.WriteString(strings.Repeat(`\`, slashes))
	b.WriteByte('"')
	return b.String()
}
