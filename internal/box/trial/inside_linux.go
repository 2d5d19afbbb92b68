package trial

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// name is what this program is called when it tries a box from inside.
const name = "tidemark-box-trial"

// calls are what is tried.
type calls struct {
	Home, Workspace, Data string
	Key, Config, Start    string
	Socket, Port, Outside string
	Monitor               string
	Process               int
	Reduced               bool
}

// Become tries a box from inside if this process was started to do that, and does not return then.
func Become() {
	if len(os.Args) == 2 && os.Args[1] == name {
		if err := inside(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func inside(in io.Reader, out io.Writer) error {
	raw, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	var c calls
	if err := strictjson.Unmarshal(raw, &c); err != nil {
		return err
	}
	said, err := strictjson.Marshal(c.try())
	if err != nil {
		return err
	}
	_, err = out.Write(said)
	return err
}

func (c calls) try() []Row {
	rows := []Row{held("key in the home folder", read(c.Key), "it is not there", "it can be read")}
	if c.Reduced {
		_ = os.WriteFile(c.Config, []byte("[core]\n\tfsmonitor = trial\n"), 0o600) // whether it stays is seen outside
	} else {
		moved := os.Rename(filepath.Dir(c.Config), filepath.Join(c.Workspace, "moved"))
		rows = append(rows, held("folder of git", moved, "it cannot be moved", "it can be moved away"),
			held("settings of git", write(c.Config), "they cannot be changed", "they can be changed: git would run what they say"))
	}
	rows = append(rows,
		held("start-up file of the shell", write(c.Start), "it cannot be changed", "it can be changed: the next shell runs it"),
		held("socket of a program", dial("unix", c.Socket), "nobody answers", "it can be reached"),
		held("port of this machine", dial("tcp", c.Port), "it cannot be reached", "it can be reached"))
	if c.Outside != "" {
		rows = append(rows, held("address outside", dial("tcp", c.Outside), "there is no way out", "it can be reached"))
	}
	if c.Monitor != "" {
		rows = append(rows, held("monitor's port", dial("tcp", c.Monitor), "it cannot be reached", "it can be reached"))
	}
	if c.Data != "" {
		names, err := os.ReadDir(c.Data)
		if err == nil && len(names) == 0 {
			err = errors.New("nothing is in it")
		}
		rows = append(rows, held("monitor's data", err, "it cannot be seen", "it can be read"))
	}
	if c.Process > 0 {
		rows = append(rows, held("process outside", syscall.Kill(c.Process, 0), "it cannot be signalled", "it can be signalled"))
	}
	rows = append(rows, held("variable of the caller", variables(), "no process of the box has it", "it can be read"))
	_ = os.WriteFile(filepath.Join(c.Workspace, ".envrc"), []byte("# trial\n"), 0o600) // whether it stays is seen outside
	return rows
}

func read(path string) error {
	_, err := os.ReadFile(path)
	return err
}

func write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func dial(network, address string) error {
	conn, err := net.DialTimeout(network, address, 3*time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

// variables looks for what the caller's environment holds in that of every process.
func variables() error {
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range found {
		if text, _ := os.ReadFile(path); strings.Contains(string(text), secret) {
			return nil
		}
	}
	return errors.New("looked in all")
}
