package catalogue

import (
	"time"

	"github.com/tidemark/tidemark/internal/agents/settings"
)

// DefaultTimeout is how long the hook takes at most where it does not wait for a person.
// It must be shorter than the agent's own limit: when that passes, tools run.
const DefaultTimeout = 5 * time.Second

// StartTime is what a hook that may start the server takes besides, where it has to.
const StartTime = 15 * time.Second

// Command is the hook as it is written into settings. The data folder is always named:
// a variable of the environment could point somewhere else.
type Command struct {
	Hook    string // path of the program
	Agent   string
	Data    string
	Record  string        // the hook then knows that there must be a record, and which
	Timeout time.Duration // 0 is the hook's default
	Wait    time.Duration
	Sender  string // "": the hook finds out
	Managed bool   // for the administrator's settings
	Start   bool   // the hook starts the server where none runs
	Prefix  string // the program that the agent is to start its commands with; "": none
}

// Args are the arguments of the program, for an event that the agent's payload does not name.
func (c Command) Args(event string) []string {
	out := []string{"--agent", c.Agent}
	if event != "" {
		out = append(out, "--event", event)
	}
	out = append(out, "--data", c.Data, "--timeout", c.timeout().String())
	if c.Wait > 0 {
		out = append(out, "--wait", c.Wait.String())
	}
	if c.Sender != "" {
		out = append(out, "--sender", c.Sender)
	}
	if c.Start {
		out = append(out, "--start")
	}
	return append(out, "--installed", c.Record)
}

func (c Command) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return DefaultTimeout
}

// Argv is the program and its arguments.
func (c Command) Argv() []string { return append([]string{c.Hook}, c.Args("")...) }

// Line is the same for agents that hand it to a shell.
func (c Command) Line() string { return settings.Join(c.Argv()) }

// Status is what the person reads while a call is held; "" where none is: the hook is then over
// before it could be read.
func (c Command) Status() string {
	if c.Wait <= 0 {
		return ""
	}
	return "Tidemark: a held call waits up to " + c.Wait.String() + " for your answer (tidemark approvals watch), then goes on by itself"
}

// Seconds is the agent's own limit. When it passes most agents run the tool, so it must
// lie well beyond the moment at which the hook answers by itself.
func (c Command) Seconds() int {
	own := c.timeout() + c.Wait
	if c.Start {
		own += StartTime
	}
	return max(60, int((own+time.Second-1)/time.Second)+30)
}
