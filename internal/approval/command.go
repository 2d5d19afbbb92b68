package approval

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/tool"
)

// MaxGrant is the longest a chat command can let a tool through.
const MaxGrant = 24 * time.Hour

// MaxCalls is the most calls a grant can be limited to.
const MaxCalls = 1000

// Verb is what a chat command asks for.
type Verb uint8

// The chat commands.
const (
	None    Verb = iota // an ordinary message
	Approve             // .approve <tool|all> <code> [minutes [argument=pattern ...]]
	Refuse              // .deny <code>
	Reset               // .reset-trust
)

// Command is a parsed chat command.
type Command struct {
	Verb Verb
	Tool string // normalised, or "all"
	Code string // 8 lower-case hex characters
	For  time.Duration
	// Where frees arguments of further calls, one by one.
	Where Where
}

// ErrUsage says that a message looks like a command but is none.
var ErrUsage = errors.New("not a valid command")

// ParseCommand reads a whole message. Only a message that is nothing but the command
// counts: a command quoted inside other text is text.
func ParseCommand(message string) (Command, error) {
	message = strings.TrimSpace(message)
	if len(message) == 0 || message[0] != '.' || strings.ContainsAny(message, "\n\r") || len(message) > 512 {
		return Command{}, nil
	}
	words := strings.Fields(message)
	switch words[0] {
	case ".approve":
		return parseApprove(words[1:])
	case ".deny":
		if len(words) != 2 || !isCode(words[1]) {
			return Command{}, fmt.Errorf("%w: want .deny <8-character code>", ErrUsage)
		}
		return Command{Verb: Refuse, Code: strings.ToLower(words[1])}, nil
	case ".reset-trust":
		if len(words) != 1 {
			return Command{}, fmt.Errorf("%w: want .reset-trust alone", ErrUsage)
		}
		return Command{Verb: Reset}, nil
	}
	return Command{}, nil
}

func parseApprove(words []string) (Command, error) {
	if len(words) < 2 || !isCode(words[1]) {
		return Command{}, fmt.Errorf("%w: want .approve <tool|all> <8-character code> [minutes [argument=pattern ...]]", ErrUsage)
	}
	c := Command{Verb: Approve, Tool: tool.Name(words[0]), Code: strings.ToLower(words[1])}
	if len(words) > 2 {
		n, err := strconv.ParseUint(words[2], 10, 16)
		if err != nil || n == 0 || time.Duration(n)*time.Minute > MaxGrant {
			return Command{}, fmt.Errorf("%w: minutes must be 1 to %d", ErrUsage, int(MaxGrant/time.Minute))
		}
		c.For = time.Duration(n) * time.Minute
		if err := c.frees(words[3:]); err != nil {
			return Command{}, err
		}
	}
	return c, nil
}

// frees reads argument=pattern.
func (c *Command) frees(words []string) error {
	for _, w := range words {
		path, pattern, ok := strings.Cut(w, "=")
		if !ok {
			return fmt.Errorf("%w: after the minutes want argument=pattern", ErrUsage)
		}
		if c.Where == nil {
			c.Where = Where{}
		}
		c.Where[path] = pattern
	}
	return c.Where.Check()
}

func isCode(s string) bool {
	if len(s) != 8 {
		return false
	}
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'f') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}
