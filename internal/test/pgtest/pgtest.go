// Package pgtest starts a real PostgreSQL for tests: the programs of the system, a cluster of its
// own in a temporary folder, reached over a socket there. Where there are none, tests that need
// it are skipped, and say so.
package pgtest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Cluster is a running database server. One is enough for all tests of a package.
type Cluster struct {
	bin    string // folder of the programs
	dir    string
	attr   *attributes
	server *exec.Cmd
	fault  error // why there is none
}

// ErrMissing is why tests are skipped.
var ErrMissing = errors.New("no PostgreSQL here (Debian: apt-get install postgresql)")

// Run runs the tests of a package with a cluster, and takes it away again. It returns the code to
// exit with.
func Run(m *testing.M, use func(*Cluster)) int {
	c := &Cluster{}
	c.fault = c.start()
	defer c.stop()
	use(c)
	return m.Run()
}

// programs is the folder of the newest PostgreSQL that is installed.
func programs() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is a good one
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", ErrMissing
	}
	return filepath.Dir(path), nil
}

func (c *Cluster) start() (err error) {
	if c.bin, err = programs(); err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return err
	}
	if os.Getuid() == 0 { // it refuses to run as root
		if c.attr, err = another(c.dir); err != nil {
			return err
		}
	}
	initdb := c.command("initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return c.Start()
}

// another is the user that the packages bring, who gets the folder.
func another(dir string) (*attributes, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, ErrMissing
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err := errors.Join(err1, err2, os.Chown(dir, uid, gid)); err != nil {
		return nil, err
	}
	return &attributes{uint32(uid), uint32(gid)}, nil
}

type attributes struct{ uid, gid uint32 }

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, program), args...)
	cmd.Dir = c.dir
	drop(cmd, c.attr)
	return cmd
}

// Start starts the server of a cluster that was stopped, and waits until it answers.
func (c *Cluster) Start() error {
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	c.server = c.command("postgres", "-D", c.data(), "-k", c.dir, "-c", "listen_addresses=", "-c", "max_connections=200")
	c.server.Stdout, c.server.Stderr = log, log
	if err := c.server.Start(); err != nil {
		return err
	}
	for range 300 {
		if c.command("pg_isready", "-h", c.dir, "-U", "postgres").Run() == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	said, _ := os.ReadFile(log.Name())
	return fmt.Errorf("postgres does not answer: %s", said)
}

// Kill ends the server as a crash does.
func (c *Cluster) Kill() {
	out, _ := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if first, _, ok := strings.Cut(string(out), "\n"); ok && first != "" {
		_ = c.command("pg_ctl", "-D", c.data(), "stop", "-m", "immediate").Run()
	}
	_ = c.server.Wait()
}

func (c *Cluster) stop() {
	if c.server != nil {
		c.Kill()
	}
	if c.dir != "" {
		_ = os.RemoveAll(c.dir)
	}
}

var schemas atomic.Int64

// Open is a cluster for a program that is no test; it is closed also after an error.
func Open() (*Cluster, error) {
	c := &Cluster{}
	c.fault = c.start()
	return c, c.fault
}

// Close ends it and takes it away.
func (c *Cluster) Close() { c.stop() }

// New is the address of an empty log of the test's own.
func (c *Cluster) New(t testing.TB) string {
	t.Helper()
	switch {
	case errors.Is(c.fault, ErrMissing):
		t.Skip(c.fault)
	case c.fault != nil:
		t.Fatal(c.fault)
	}
	return c.Address()
}

// Address is that of an empty log.
func (c *Cluster) Address() string {
	schema := fmt.Sprintf("log_%d", schemas.Add(1))
	query := url.Values{"host": {c.dir}, "search_path": {schema}, "sslmode": {"disable"}}
	return "postgres://postgres@/postgres?" + query.Encode()
}

// Start is a cluster for one test.
func Start(t testing.TB) *Cluster {
	c := &Cluster{}
	c.fault = c.start()
	t.Cleanup(c.stop)
	return c
}
