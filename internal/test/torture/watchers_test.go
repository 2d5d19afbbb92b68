package torture_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
)

// What the test program finds in its environment where it is to watch a server and do nothing else.
const (
	watchURL   = "TORTURE_WATCH_URL"
	watchToken = "TORTURE_WATCH_TOKEN"
	watchMany  = "TORTURE_WATCHERS"
)

// watch has a process of its own open streams of events and read them, until leave is called. In this one they would be in the way of
// whoever measures.
func watch(t testing.TB, s *server, n int) (leave func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), watchURL+"="+s.url, watchToken+"="+s.house.tokens.Admin, watchMany+"="+strconv.Itoa(n))
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	leave = sync.OnceFunc(func() {
		_ = in.Close() // it ends then
		if err := cmd.Wait(); err != nil {
			t.Errorf("%d watchers: %v", n, err)
		}
	})
	t.Cleanup(leave)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%d watchers: %q, %v", n, line, err)
	}
	return leave
}

// beWatchers opens the streams, says so, and reads them until its input ends. Half of them wait for what never comes.
func beWatchers() int {
	n, _ := strconv.Atoi(os.Getenv(watchMany)) // else none
	for i := range n {
		url := os.Getenv(watchURL) + "/v1/events"
		if i%2 == 1 {
			url += "?kind=trust.reset"
		}
		req, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		req.Header.Set("Authorization", "Bearer "+os.Getenv(watchToken))
		res, err := http.DefaultClient.Do(req)
		if err != nil || res.StatusCode != http.StatusOK {
			fmt.Fprintln(os.Stderr, res, err)
			return 1
		}
		go func() { _, _ = io.Copy(io.Discard, res.Body) }() // until the process ends
	}
	fmt.Println("all are there")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is closed
	return 0
}
