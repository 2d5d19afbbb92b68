package frame_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/box/frame"
)

func pair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out [2]*net.UnixConn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "pair")
		c, err := net.FileConn(f)
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		out[i] = c.(*net.UnixConn)
		t.Cleanup(func() { _ = c.Close() })
	}
	return out[0], out[1]
}

// Messages come through as they are, in their order, each with its own files.
func TestMessagesComeThroughWithTheirFiles(t *testing.T) {
	a, b := pair(t)
	rapid.Check(t, func(t *rapid.T) {
		sent := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 1, 6).Draw(t, "messages")
		with := rapid.IntRange(0, 3).Draw(t, "files")
		go func() {
			for _, m := range sent {
				var files []*os.File
				for range with {
					r, w, err := os.Pipe()
					if err != nil {
						return
					}
					_, _ = w.Write(m[:min(len(m), 100)])
					_ = w.Close()
					files = append(files, r)
				}
				_ = frame.Send(a, m, files...)
				for _, f := range files {
					_ = f.Close()
				}
			}
		}()
		for _, m := range sent {
			got, files, err := frame.Receive(b)
			if err != nil || !bytes.Equal(got, m) || len(files) != with {
				t.Fatalf("%d bytes and %d files of %d and %d: %v", len(got), len(files), len(m), with, err)
			}
			for _, f := range files {
				text, err := io.ReadAll(f)
				if err != nil || !bytes.Equal(text, m[:min(len(m), 100)]) {
					t.Fatal(err)
				}
				_ = f.Close()
			}
		}
	})
}

// What is too long is neither sent nor read, and a message that is cut short is none.
func TestWhatIsTooLongOrCutShortIsRefused(t *testing.T) {
	a, b := pair(t)
	if err := frame.Send(a, make([]byte, frame.Most+1)); err == nil {
		t.Error("it was sent")
	}
	if _, err := a.Write([]byte{0xff, 0xff, 0xff, 0xff}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := frame.Receive(b); err == nil {
		t.Error("it was read")
	}
	a, b = pair(t)
	if _, err := a.Write([]byte{0, 0, 0, 9, 'x'}); err != nil {
		t.Fatal(err)
	}
	_ = a.Close()
	if _, _, err := frame.Receive(b); err == nil {
		t.Error("half of it was taken for the whole")
	}
}
