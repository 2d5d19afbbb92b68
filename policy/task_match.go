package policy

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// maxExact is where whole numbers stop being told apart once they are decoded.
const maxExact = 1 << 53

// shellSpecial begin another command, or write a file, in what looks like one command.
const shellSpecial = ";&|<>()${}`\n\r"

// taskLimit is what one argument must be: all of its checks.
type taskLimit struct {
	arg    string // as the plan spells it
	key    string // for every spelling of it
	checks []taskCheck
}

// taskCheck is one constraint. It holds for an argument if every value fits.
type taskCheck struct {
	words   string // for people
	missing bool   // holds where the argument is missing
	fits    func(v any) bool
}

// newTaskLimit compiles a constraint. Its errors go on where the argument's name ends.
func newTaskLimit(arg string, f taskArgForm) (taskLimit, error) {
	l := taskLimit{arg: arg, key: argKey(arg)}
	if err := checkTaskName(arg); err != nil {
		return l, fmt.Errorf(": %w", err)
	}
	if l.key == "" {
		return l, errors.New(": names no argument")
	}
	for _, kind := range []struct {
		name string
		add  func() error
	}{
		{"oneOf", func() error { return l.addOneOf(f.OneOf) }},
		{"prefix", func() error { return l.addText(f.Prefix, readPrefix) }},
		{"contains", func() error { return l.addText(f.Contains, readPart) }},
		{"host", func() error { return l.addText(f.Host, readHost) }},
		{"max", func() error { return l.addNumber(f.Max, "<=", true) }},
		{"min", func() error { return l.addNumber(f.Min, ">=", false) }},
	} {
		if err := kind.add(); err != nil {
			return l, fmt.Errorf(".%s: %w", kind.name, err)
		}
	}
	if len(l.checks) == 0 {
		return l, errors.New(": says nothing about the argument")
	}
	return l, nil
}

func (l *taskLimit) addOneOf(list []any) error {
	if list == nil {
		return nil
	}
	if len(list) == 0 || len(list) > maxTaskValues {
		return fmt.Errorf("lists %d values, want 1 to %d", len(list), maxTaskValues)
	}
	words := make([]string, len(list))
	for i, v := range list {
		var err error
		switch v := v.(type) {
		case string:
			err = checkTaskText(v)
		case float64:
			err = checkExact(v)
		case []any, map[string]any:
			err = errors.New("is a list or an object, want a single value")
		}
		if err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
		words[i] = literal(v)
	}
	l.checks = append(l.checks, taskCheck{
		words: argWords(l.arg) + " in [" + strings.Join(words, ", ") + "]",
		fits:  func(v any) bool { return slices.Contains(list, v) }, // all in it are scalars
	})
	return nil
}

// textTest is how a text is tested, and the form of the words that say so.
type textTest struct {
	form string // of argument and wanted text
	fits func(s string) bool
}

func (l *taskLimit) addText(want *string, read func(arg, want string) (textTest, error)) error {
	if want == nil {
		return nil
	}
	if *want == "" {
		return errors.New("is empty")
	}
	if err := checkTaskText(*want); err != nil {
		return err
	}
	test, err := read(l.arg, *want)
	if err != nil {
		return err
	}
	l.checks = append(l.checks, taskCheck{
		words: fmt.Sprintf(test.form, argWords(l.arg), literal(*want)),
		fits: func(v any) bool {
			s, ok := v.(string)
			return ok && test.fits(s)
		},
	})
	return nil
}

// addNumber bounds a number. What is missing is not too much; it is too little.
func (l *taskLimit) addNumber(bound *float64, op string, upper bool) error {
	if bound == nil {
		return nil
	}
	if err := checkExact(*bound); err != nil {
		return err
	}
	edge := *bound
	l.checks = append(l.checks, taskCheck{
		words:   argWords(l.arg) + " " + op + " " + literal(edge),
		missing: upper,
		fits: func(v any) bool {
			n, ok := v.(float64)
			return ok && checkExact(n) == nil && (upper && n <= edge || !upper && n >= edge)
		},
	})
	return nil
}

// checkExact refuses numbers that stand for their neighbours as well.
func checkExact(n float64) error {
	if n <= -maxExact || n >= maxExact {
		return errors.New("the number is too large to be compared exactly")
	}
	return nil
}

// broken is the first check that does not hold, and what was found instead.
func (l taskLimit) broken(given []any) (*taskCheck, string) {
	for i := range l.checks {
		c := &l.checks[i]
		if len(given) == 0 && !c.missing {
			return c, "nothing"
		}
		for _, v := range given {
			if !c.fits(v) {
				return c, short(literal(v))
			}
		}
	}
	return nil, ""
}

// literal is a JSON value for people, with what cannot be seen escaped.
func literal(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	b, _ := strictjson.Marshal(v) // it was decoded from JSON
	return plainMessage(string(b))
}

func argWords(arg string) string {
	for i, c := range []byte(arg) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && (i == 0 || c < '0' || c > '9') {
			return "args[" + strconv.Quote(arg) + "]"
		}
	}
	return "args." + arg
}

// readPrefix reads a prefix as what it looks like. A text that happens to be a path
// must not climb out of what its beginning promises.
func readPrefix(arg, prefix string) (textTest, error) {
	scheme, _, _ := strings.Cut(strings.ToLower(prefix), "://")
	switch {
	case isCommand(arg):
		return commandPrefix(prefix)
	case scheme == "http" || scheme == "https":
		return urlPrefix(prefix, scheme)
	case strings.ContainsAny(prefix, `/\`) || prefix[0] == '~':
		return pathPrefix(prefix)
	}
	return textTest{"%s.startsWith(%s)", func(s string) bool {
		return strings.HasPrefix(s, prefix) && staysPut(s)
	}}, nil
}

func isCommand(arg string) bool {
	return slices.ContainsFunc(commandFields, func(n string) bool { return sameField(arg, n) })
}

// staysPut reports whether the text, should it be a path, does not climb.
func staysPut(s string) bool { return !climbs(strings.ReplaceAll(s, `\`, "/")) }

// commandPrefix fits one plain command that begins with these words.
func commandPrefix(prefix string) (textTest, error) {
	words := strings.TrimRight(prefix, " ")
	if words == "" || strings.ContainsAny(words, shellSpecial) {
		return textTest{}, fmt.Errorf("%q is not the beginning of one plain command", prefix)
	}
	return textTest{"%s runs only %s", func(s string) bool {
		rest, ok := strings.CutPrefix(s, words)
		return ok && (rest == "" || rest[0] == ' ') && !strings.ContainsAny(s, shellSpecial)
	}}, nil
}

// urlPrefix fits URLs of the same scheme, host and port, at or below the same path.
func urlPrefix(prefix, scheme string) (textTest, error) {
	want, ok := readURL(prefix)
	anyHost := len(prefix) == len(scheme+"://")
	if !anyHost && (!ok || !want.plain || strings.ContainsAny(prefix, "?#")) {
		return textTest{}, fmt.Errorf("%q is not a plain scheme, host and path", prefix)
	}
	return textTest{"%s within %s", func(s string) bool {
		at, ok := readURL(s)
		return ok && at.plain && at.scheme == scheme &&
			(anyHost || at.port == want.port && slices.Equal(at.labels, want.labels) && below(want.path, at.path))
	}}, nil
}

// pathPrefix fits paths at or below a folder, once both are cleaned.
func pathPrefix(prefix string) (textTest, error) {
	want, ok := readPath(prefix)
	if !ok || !want.plain {
		return textTest{}, fmt.Errorf("%q is not a plain path", prefix)
	}
	here := slices.Equal(want.segs, []string{"."})
	return textTest{"%s within %s", func(s string) bool {
		at, ok := readPath(s)
		if !ok || !at.plain {
			return false
		}
		if first := at.segs[0]; here { // no root, no home, no drive
			return first != "" && first[0] != '~' && !strings.Contains(first, ":")
		}
		return below(want.segs, at.segs)
	}}, nil
}

// below compares whole segments: /tmpfile is not below /tmp.
func below(folder, segs []string) bool {
	if last := len(folder) - 1; folder[last] == "" {
		folder = folder[:last] // the root
	}
	return len(segs) >= len(folder) && slices.Equal(segs[:len(folder)], folder)
}

// readPart fits texts that hold the part; what else they hold is bounded like a prefix's.
func readPart(arg, part string) (textTest, error) {
	command := isCommand(arg)
	return textTest{"%s.contains(%s)", func(s string) bool {
		return strings.Contains(s, part) && staysPut(s) && (!command || !strings.ContainsAny(s, shellSpecial))
	}}, nil
}

// readHost fits URLs at the host or a subdomain of it, whatever the port.
func readHost(_, host string) (textTest, error) {
	want := strings.TrimSuffix(strings.ToLower(host), ".")
	if !plainHost(want) || strings.Contains(want, ":") {
		return textTest{}, fmt.Errorf("%q is not a host name", host)
	}
	labels := strings.Split(want, ".")
	return textTest{"%s.host() within %s", func(s string) bool {
		at, ok := readURL(s)
		u, err := url.Parse(s)
		return ok && err == nil && u.User == nil &&
			len(at.labels) >= len(labels) && slices.Equal(at.labels[len(at.labels)-len(labels):], labels)
	}}, nil
}
