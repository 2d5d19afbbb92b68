package entry

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/frame"
)

// Main is tidemark-hook box TICKET -- LINE: it returns the exit code of the line, or 125 if nothing was run.
func Main(args []string, errOut io.Writer) int {
	var data string
	f := flag.NewFlagSet("tidemark-hook box", flag.ContinueOnError)
	f.SetOutput(errOut)
	f.StringVar(&data, "data", "", "data folder, as a whole path")
	if err := f.Parse(args); err != nil {
		return box.ExitNoBox
	}
	rest := f.Args()
	if len(rest) == 3 && rest[1] == "--" {
		rest = []string{rest[0], rest[2]}
	}
	if len(rest) != 2 || !filepath.IsAbs(data) {
		return refuse(errOut, errors.New("want tidemark-hook box --data FOLDER TICKET -- LINE, with a whole path and one line"))
	}
	dir, err := os.Getwd()
	if err != nil {
		return refuse(errOut, fmt.Errorf("find this folder: %w", err))
	}
	return Do(data, Request{Do: Run, Ticket: rest[0], Line: []byte(rest[1]), Dir: []byte(dir)}, errOut)
}

// Do has the keeper run what is asked for with the files, the terminal and the environment of this process, and files besides if the
// request is for some.
func Do(data string, r Request, errOut io.Writer, more ...*os.File) int {
	for _, e := range os.Environ() {
		r.Env = append(r.Env, []byte(e))
	}
	c := &client{errOut: errOut, signals: make(chan os.Signal, 16), more: more}
	if isTerminal(os.Stdin) && isTerminal(os.Stdout) && r.Around == nil {
		r.Screen = true
		r.Rows, r.Columns = size(os.Stdin)
	}
	signal.Notify(c.signals, append(box.Passed(), unix.SIGWINCH)...)
	for range mostKeepers {
		if code, again := c.ask(data, r); !again {
			return code
		}
	}
	return refuse(errOut, errors.New("every box keeper that was asked has just ended"))
}

// mostKeepers is how many keepers are asked one after the other, where each ends just then.
const mostKeepers = 3

// ask asks one keeper. again says that it ends, and has done nothing.
func (c *client) ask(data string, r Request) (code int, again bool) {
	var err error
	if c.conn, err = reach(data); err != nil {
		return refuse(c.errOut, err), false
	}
	defer c.conn.Close()
	if err := c.send(r, append(handed(), c.more...)...); err != nil {
		return refuse(c.errOut, fmt.Errorf("ask the box keeper: %w", err)), false
	}
	return c.follow()
}

// Ask asks the keeper something that runs nothing. It starts none.
func Ask(data string, r Request) (Answer, error) {
	conn, err := dial(data)
	if err != nil {
		return Answer{}, err
	}
	c := &client{conn: conn}
	defer conn.Close()
	if err := c.send(r); err != nil {
		return Answer{}, fmt.Errorf("ask the box keeper: %w", err)
	}
	a, _, err := c.receive()
	if err == nil && a.Reason != "" {
		err = errors.New(a.Reason)
	}
	return a, err
}

// refuse says why nothing was run.
func refuse(errOut io.Writer, err error) int {
	_, _ = fmt.Fprintf(errOut, "tidemark: nothing was run: %v\n", err) // nobody is left to tell
	return box.ExitNoBox
}

// handed are the files of this process that the command is given. One that is closed is nothing to read or to write.
func handed() []*os.File {
	files := []*os.File{os.Stdin, os.Stdout, os.Stderr}
	for i, f := range files {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); err == nil {
			continue
		}
		if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
			files[i] = null
		}
	}
	return files
}

// client is one request that is under way.
type client struct {
	conn    *net.UnixConn
	mu      sync.Mutex // held while a message is written
	errOut  io.Writer
	signals chan os.Signal
	screen  *screen
	more    []*os.File // besides the three that every command has
}

func (c *client) send(v any, files ...*os.File) error {
	body, err := strictjson.Marshal(v)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return frame.Send(c.conn, body, files...)
}

func (c *client) receive() (Answer, []*os.File, error) {
	var a Answer
	body, files, err := frame.Receive(c.conn)
	if err == nil {
		err = strictjson.Unmarshal(body, &a)
	}
	return a, files, err
}

// follow hands on signals and what is typed until the command has ended.
func (c *client) follow() (code int, again bool) {
	type heard struct {
		answer Answer
		files  []*os.File
		err    error
	}
	answers := make(chan heard, 4) // more than a keeper says
	go func() {
		for {
			a, files, err := c.receive()
			answers <- heard{a, files, err}
			if err != nil {
				return
			}
		}
	}()
	for {
		select {
		case s := <-c.signals:
			c.pass(s)
		case h := <-answers:
			switch {
			case h.err != nil:
				c.screen.end()
				if errors.Is(h.err, io.EOF) || errors.Is(h.err, syscall.ECONNRESET) {
					h.err = errors.New("the box keeper has ended, and with it every command in its boxes")
				}
				_, _ = fmt.Fprintf(c.errOut, "tidemark: %v\n", h.err)
				return box.ExitNoBox, false
			case h.answer.Again:
				return 0, true
			case h.answer.Given && len(h.files) == 1:
				c.screen = begin(h.files[0])
			case !h.answer.Given:
				c.screen.end()
				return c.tell(h.answer), false
			}
		}
	}
}

// pass hands on a signal of this process. The size of the window is the terminal's, where the command has one of its own.
func (c *client) pass(s os.Signal) {
	n, ok := s.(syscall.Signal)
	switch {
	case !ok:
	case n == unix.SIGWINCH && c.screen != nil:
		c.screen.fit()
	default:
		_ = c.send(Passed{Signal: int(n)}) // a keeper that is gone is heard of
	}
}

func (c *client) tell(a Answer) int {
	for _, n := range a.Notes {
		_, _ = fmt.Fprintf(c.errOut, "tidemark: %s\n", n)
	}
	if a.Reason != "" {
		_, _ = fmt.Fprintf(c.errOut, "tidemark: %s\n", a.Reason)
	}
	return a.Exit
}

// settle is how long is waited for what a command wrote last.
const settle = 200 * time.Millisecond
