package box

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// message is what a box's owner and its first process say to one another. Arguments and paths are bytes, not text: they must come
// through as they are.
type message struct {
	Plan   *plan    // owner: make this view
	ID     int      // of the command that it is about
	Args   []string // owner: run this, with the files that come along
	Env    []string
	Dir    string
	Signal int    // owner: it is to have this signal
	Ask    bool   // owner: say how things stand
	Listen string // owner: hand out a socket that listens there, as "tcp 127.0.0.1:53"
	Find   string // owner: say which program has the connection with this end

	Ready   bool   // box: the view is made
	Fault   string // box: it could not be made, or the command not started
	Ended   bool   // box: the command has ended
	Exit    Exit
	Counts  counts
	Program string

	files []*os.File // what came with it
}

// counts are what the box knows of itself.
type counts struct {
	Unrouted  int
	Processes int
	NotShown  []string
}

// maxMessage is the longest message: the kernel's own limit on arguments is half of it.
const maxMessage = 16 << 20

// wire carries messages, and files with them.
type wire struct {
	conn *net.UnixConn
	mu   sync.Mutex // held while a message is written
}

func (w *wire) send(m message, files ...*os.File) error {
	body, err := encode(&m)
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body))) //nolint:gosec // far below
	if _, _, err := w.conn.WriteMsgUnix(head, rights, nil); err != nil {
		return err
	}
	_, err = w.conn.Write(body)
	return err
}

func (w *wire) receive() (message, []*os.File, error) {
	var m message
	head, oob := make([]byte, 4), make([]byte, unix.CmsgSpace(3*4))
	n, got, _, _, err := w.conn.ReadMsgUnix(head, oob)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return m, nil, err
	}
	files, err := received(oob[:got])
	if err != nil {
		return m, nil, err
	}
	if _, err := io.ReadFull(w.conn, head[n:]); err != nil {
		return m, files, err
	}
	size := binary.BigEndian.Uint32(head)
	if size > maxMessage {
		return m, files, fmt.Errorf("read message: %d bytes are too many", size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(w.conn, body); err != nil {
		return m, files, err
	}
	if err := decode(body, &m); err != nil {
		return m, files, fmt.Errorf("read message: %w", err)
	}
	return m, files, nil
}

// received are the files that came with a message, kept from every program that is started but the one they are for.
func received(oob []byte) ([]*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	parts, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	var files []*os.File
	for i := range parts {
		fds, err := unix.ParseUnixRights(&parts[i])
		if err != nil {
			return nil, fmt.Errorf("read files: %w", err)
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "handed"))
		}
	}
	return files, nil
}

// encode writes a message as JSON in which each byte of a text is one sign: JSON knows no bytes that are not text, and
// paths and arguments may be such.
func encode(m *message) ([]byte, error) {
	out := respelt(reflect.ValueOf(m), func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			b.WriteRune(rune(s[i]))
		}
		return b.String()
	})
	return json.Marshal(out.Interface())
}

// decode reads what encode wrote.
func decode(body []byte, m *message) error {
	var got message
	if err := json.Unmarshal(body, &got); err != nil {
		return err
	}
	out := respelt(reflect.ValueOf(&got), func(s string) string {
		b := make([]byte, 0, len(s))
		for _, r := range s {
			b = append(b, byte(r))
		}
		return string(b)
	})
	*m = *out.Interface().(*message)
	return nil
}

// respelt is a copy of a value with every text in it spelt anew; what is not exported is left out.
func respelt(v reflect.Value, spell func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(spell(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(respelt(v.Elem(), spell))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(respelt(v.Field(i), spell))
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(respelt(v.Index(i), spell))
			}
		}
	default:
		out.Set(v)
	}
	return out
}
