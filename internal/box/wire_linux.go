package box

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"
	"sync"

	"github.com/tidemark/tidemark/internal/box/frame"
)

// message is what a box's owner and its first process say to one another. Arguments and paths are bytes, not text: they must come
// through as they are.
type message struct {
	Plan   *plan    // owner: make this view
	ID     int      // of the command that it is about
	Args   []string // owner: run this, with the files that come along
	Env    []string
	Dir    string
	Leads  bool   // owner: it leads a session of its own, and signals go to all its processes
	Screen *Size  // owner: and it is given a terminal that is made for it
	Signal int    // owner: it is to have this signal
	Ask    bool   // owner: say how things stand
	Listen string // owner: hand out a socket that listens there, as "tcp 127.0.0.1:53"
	Find   string // owner: say which program has the connection with this end

	Ready   bool   // box: the view is made
	Fault   string // box: it could not be made, or the command not started
	Ended   bool   // box: the command has ended
	Given   bool   // box: this is the near end of the terminal that was made for it
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
	w.mu.Lock()
	defer w.mu.Unlock()
	return frame.Send(w.conn, body, files...)
}

func (w *wire) receive() (message, []*os.File, error) {
	var m message
	body, files, err := frame.Receive(w.conn)
	if err != nil {
		return m, files, err
	}
	if err := decode(body, &m); err != nil {
		return m, files, fmt.Errorf("read message: %w", err)
	}
	return m, files, nil
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
