//go:build judges

package sdkcompat_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// many are the tiny events of one stream for a client, whose own work grows with the
// square of it; most are those of one that no client reads.
const (
	many = 10_000
	most = 100_000
)

// program is a client in a process of its own: jobs go in, results come out, a line each.
type program struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	read  chan struct{} // closed when the output has ended
	lock  sync.Mutex
	await map[string]chan result
	ended bool
}

// cache is where scripts/judges has installed everything.
func cache(name ...string) string {
	return filepath.Join(append([]string{os.Getenv("JUDGES_CACHE")}, name...)...)
}

func startProgram(name string, args ...string) (*program, error) {
	p := &program{cmd: exec.Command(name, args...), read: make(chan struct{}), await: map[string]chan result{}}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.listen(out)
	return p, nil
}

func (p *program) listen(out io.Reader) {
	defer close(p.read)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			r = result{Error: &fault{Kind: "rig", Message: err.Error()}}
		}
		p.lock.Lock()
		if c := p.await[r.ID]; c != nil {
			c <- r
			delete(p.await, r.ID)
		}
		p.lock.Unlock()
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.ended = true
	for id, c := range p.await {
		c <- result{ID: id, Error: &fault{Kind: "rig", Message: "the program has ended"}}
	}
}

func (p *program) run(j job) result {
	line, err := json.Marshal(j)
	if err != nil {
		return result{ID: j.ID, Error: &fault{Kind: "rig", Message: err.Error()}}
	}
	c := make(chan result, 1)
	p.lock.Lock()
	if _, err = p.in.Write(append(line, '\n')); err == nil && p.ended {
		err = errors.New("the program has ended")
	}
	if err == nil {
		p.await[j.ID] = c
	}
	p.lock.Unlock()
	if err != nil {
		return result{ID: j.ID, Error: &fault{Kind: "rig", Message: err.Error()}}
	}
	return <-c
}

func (p *program) stop() error {
	err := p.in.Close()
	<-p.read
	return errors.Join(err, p.cmd.Wait())
}

// elsewhere are the clients that are not Go, or not of this module, and the mock upstream.
type elsewhere struct {
	judges []judge
	mock   string // its address
	stops  []func() error
}

func openElsewhere() (*elsewhere, error) {
	e := &elsewhere{}
	if err := e.open(); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *elsewhere) open() error {
	node := cache("node")
	js, err := startProgram(node, cache("js", "judge.mjs"))
	if err != nil {
		return fmt.Errorf("start the clients of npm: %w", err)
	}
	e.stops = append(e.stops, js.stop)
	gemini, err := startProgram(cache("gosdk"))
	if err != nil {
		return fmt.Errorf("start the Go client of Gemini: %w", err)
	}
	e.stops = append(e.stops, gemini.stop)
	for _, kind := range []string{"chat", "responses", "messages", "gemini"} {
		e.judges = append(e.judges, judge{"js-" + kind, kind, js.run})
	}
	e.judges = append(e.judges, judge{"go-gemini", "gemini", gemini.run})
	if err := e.openPython(); err != nil {
		return err
	}
	if err := e.openJava(); err != nil {
		return err
	}
	return e.openMock(node)
}

// openJava starts the HTTP client of the JDK, where there is one.
func (e *elsewhere) openJava() error {
	source := cache("java", "Judge.java")
	if _, err := os.Stat(source); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	java, err := startProgram(cache("java", "java"), source)
	if err != nil {
		return fmt.Errorf("start the client of the JDK: %w", err)
	}
	e.stops = append(e.stops, java.stop)
	for _, kind := range []string{"chat", "responses", "messages", "gemini"} {
		e.judges = append(e.judges, judge{"jdk-" + kind, kind, java.run})
	}
	return nil
}

// openPython starts the clients of PyPI, and the frameworks that stand on them, where they are installed.
func (e *elsewhere) openPython() error {
	script := cache("py", "judge.py")
	if _, err := os.Stat(script); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	py, err := startProgram(cache("py", "bin", "python"), script)
	if err != nil {
		return fmt.Errorf("start the clients of PyPI: %w", err)
	}
	e.stops = append(e.stops, py.stop)
	for _, kind := range []string{"chat", "responses", "messages"} {
		e.judges = append(e.judges, judge{"py-" + kind, kind, py.run})
	}
	for _, name := range []string{"langchain-chat", "langchain-messages", "pydantic-chat", "pydantic-messages"} {
		_, kind, _ := strings.Cut(name, "-")
		e.judges = append(e.judges, judge{name, kind, func(j job) result {
			j.Kind = name
			return py.run(j)
		}})
	}
	return nil
}

func (e *elsewhere) openMock(node string) error {
	cmd := exec.Command(node, cache("js", "mock.mjs"), cache("js", "fixtures.json"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the mock upstream: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	e.mock = strings.TrimSpace(line)
	e.stops = append(e.stops, func() error { return errors.Join(in.Close(), cmd.Wait()) })
	return err
}

func (e *elsewhere) close() error {
	var errs []error
	for _, stop := range e.stops {
		errs = append(errs, stop())
	}
	return errors.Join(errs...)
}
