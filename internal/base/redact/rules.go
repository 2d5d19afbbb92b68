package redact

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/tidemark/tidemark/internal/base/glob"
)

// Rules are what a configuration adds to what is built in.
type Rules struct {
	Fields   []FieldRule
	Patterns []Pattern
}

// FieldRule removes whole values by the name of their field (VER-09).
type FieldRule struct {
	Tools  []string // normalised names, * for any characters; none: every tool
	Fields []string // a name at any depth or a dotted path from the top; case, '_' and '-' do not count, * for any characters
	Sized  bool     // the mark tells how many characters were removed
}

// Pattern removes what an RE2 expression matches.
type Pattern struct {
	Name, Expr string
}

var (
	errEmptyMatch = errors.New("it matches the empty string")
	errMarkMatch  = errors.New("it matches " + Mark)
	errNoField    = errors.New("a rule without fields")
)

// Compile makes a Redactor of the built-in patterns, DefaultRules and these rules. The
// error names the pattern that is at fault.
func Compile(rules Rules) (*Redactor, error) {
	r := newRedactor(append(DefaultRules().Fields, rules.Fields...))
	for _, f := range rules.Fields {
		if len(f.Fields) == 0 {
			return nil, fmt.Errorf("compile fields of %s: %w", strings.Join(f.Tools, ", "), errNoField)
		}
	}
	for _, p := range rules.Patterns {
		re, err := regexp.Compile(p.Expr)
		switch {
		case err != nil:
		case re.MatchString(""):
			err = errEmptyMatch // it would put a mark between any two characters
		case re.MatchString(Mark):
			err = errMarkMatch // it would never be done
		}
		if err != nil {
			return nil, fmt.Errorf("compile pattern %q: %w", p.Name, err)
		}
		r.patterns = append(r.patterns, re)
	}
	return r, nil
}

// DefaultRules are the fields that never leave: what is written to files, and what a
// field's own name says is secret.
func DefaultRules() Rules {
	return Rules{Fields: []FieldRule{
		{
			Tools: []string{
				"write", "write_file", "*__write_file", "create", "create_file", "*__create_file",
				"save_file", "append_file", "write_to_file",
				"edit", "edit_file", "*__edit_file", "multi_edit", "multiedit", "*multi_edit",
				"notebook_edit", "notebookedit", "str_replace", "*str_replace*",
				"insert", "replace", "replace_in_file", "search_replace", "apply_patch", "*apply_patch", "patch", "apply_diff",
			},
			Fields: []string{
				"content", "contents", "old_string", "new_string", "old_text", "new_text", "old_str", "new_str", "file_text", "insert_text",
				"new_source", "new_content", "old_content", "patch", "diff", "input", "edits", "changes",
				"text", "body", "data", "replacement",
			},
			Sized: true,
		},
		{Fields: []string{
			"password", "*_password", "passwd", "passphrase", "*_passphrase", "passcode", "pin", "cvv", "cvc", "otp",
			"secret", "secrets", "*_secret", "client_secret", "secret_key", "*_secret_key", "secret_access_key", "*_secret_access_key",
			"token", "access_token", "refresh_token", "id_token", "auth_token", "bot_token",
			"bearer_token", "session_token", "api_token", "*_api_token",
			"api_key", "*_api_key", "private_key", "*_private_key", "access_key", "account_key", "encryption_key", "signing_key",
			"authorization", "proxy_authorization", "credentials", "cookie", "cookies", "set_cookie",
		}},
	}}
}

// fieldRule is a FieldRule made ready: names in one spelling.
type fieldRule struct {
	tools []string
	names map[string]bool // at any depth
	globs []string        // names with *
	paths []string        // with a dot
	sized bool
}

func compileField(f FieldRule) fieldRule {
	out := fieldRule{names: map[string]bool{}, sized: f.Sized}
	for _, t := range f.Tools {
		out.tools = append(out.tools, toolName(t))
	}
	for _, name := range f.Fields {
		switch key := fieldName(name); {
		case strings.Contains(key, "."):
			out.paths = append(out.paths, key)
		case strings.Contains(key, "*"):
			out.globs = append(out.globs, key)
		default:
			out.names[key] = true
		}
	}
	return out
}

// toolName is the spelling in which tools are compared.
func toolName(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '-' || c == ' ' {
			return '_'
		}
		return c
	}, strings.ToLower(strings.TrimSpace(s)))
}

// fieldName is the spelling in which fields are compared: apiKey, API-KEY and api_key
// are one, with or without invisible characters.
func fieldName(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == ' ' || unseen(c) {
			return -1
		}
		return c
	}, strings.ToLower(s))
}

func (f *fieldRule) about(tool string) bool {
	for _, t := range f.tools {
		if glob.Stars(t, tool) {
			return true
		}
	}
	return len(f.tools) == 0
}

func (f *fieldRule) matches(name, path string) bool {
	if f.names[name] {
		return true
	}
	for _, g := range f.globs {
		if glob.Stars(g, name) {
			return true
		}
	}
	for _, p := range f.paths {
		if glob.Stars(p, path) {
			return true
		}
	}
	return false
}
