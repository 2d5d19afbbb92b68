package anchors_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark/tidemark/hook"
	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/engine"
	"github.com/tidemark/tidemark/internal/external/anchors"
	"github.com/tidemark/tidemark/internal/store"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func signer() anchors.Signer { return anchors.NewSigner(bytes.Repeat([]byte{7}, 32)) }

func headAt(batch uint64) store.Head {
	return store.Head{Batch: batch, Records: int64(3 * batch), Hash: audit.Hash{byte(batch), 1, 2}}
}

// ledger is heads by their commit.
type ledger map[uint64]store.Head

func (l ledger) HeadAt(_ context.Context, batch uint64) (store.Head, error) {
	h, ok := l[batch]
	if !ok {
		return h, fmt.Errorf("read: %w", engine.ErrNotFound)
	}
	return h, nil
}

// BEY-12: what was written down is found again, and what was changed in it is not believed.
func TestCheckpointsAreReadAndHeldAgainstTheLedger(t *testing.T) {
	s := signer()
	first, second := string(s.Sign(headAt(1), at)), string(s.Sign(headAt(2), at.Add(time.Hour)))
	other := string(anchors.NewSigner(bytes.Repeat([]byte{8}, 32)).Sign(headAt(2), at))
	whole := ledger{1: headAt(1), 2: headAt(2), 3: headAt(3)}
	rewritten := ledger{1: headAt(1), 2: headAt(9), 3: headAt(3)}
	for name, test := range map[string]struct {
		text   string
		ledger ledger
		good   int
		bad    string // a part of what is wrong with the file
		breaks string // a part of what is wrong with the log
	}{
		"one after the other":              {first + second, whole, 2, "", ""},
		"with lines between":               {"\n" + first + "\n\n" + second + "\n", whole, 2, "", ""},
		"with the ends of another system":  {strings.ReplaceAll(first, "\n", "\r\n"), whole, 1, "", ""},
		"nothing":                          {"", whole, 0, "", ""},
		"the log was cut":                  {first + second, ledger{1: headAt(1)}, 2, "", "its end was removed"},
		"the log was rewritten":            {first + second, rewritten, 2, "", "removed or rewritten"},
		"another hash":                     {strings.Replace(first, "AQEC", "AQED", 1), whole, 0, "no good signature", ""},
		"another number":                   {strings.Replace(first, "\n1\n", "\n3\n", 1), whole, 0, "line 1: it has no good signature", ""},
		"another time":                     {strings.Replace(first, "2026", "2027", 1), whole, 0, "no good signature", ""},
		"somebody else's":                  {other, whole, 0, "no good signature", ""},
		"one cut short spoils none beside": {first[:40] + "\n\n" + second, whole, 1, "line 1: it has no good signature", ""},
		"a signature alone":                {first[strings.Index(first, "—"):], whole, 0, "no good signature", ""},
		"some text":                        {"hello\n", whole, 0, "no good signature", ""},
	} {
		t.Run(name, func(t *testing.T) {
			good, bad := anchors.ReadNotes([]byte(test.text), s.Key)
			if len(good) != test.good || (len(bad) > 0) != (test.bad != "") || test.bad != "" && !strings.Contains(bad[0].Error(), test.bad) {
				t.Errorf("read %v and %v, want %d and %q", good, bad, test.good, test.bad)
			}
			breaks, err := anchors.Check(t.Context(), test.ledger, good)
			if err != nil || (len(breaks) > 0) != (test.breaks != "") || test.breaks != "" && !strings.Contains(breaks[0].String(), test.breaks) {
				t.Errorf("breaks %v, %v; want %q", breaks, err, test.breaks)
			}
		})
	}
}

func TestKeysThatAreNone(t *testing.T) {
	good := signer().Key.String()
	name, rest, _ := strings.Cut(good, "+")
	for _, text := range []string{"", "a+b", good[:len(good)-4], good + "AAAA", "other+" + rest, name + "+00000000" + rest[8:]} {
		if k, err := anchors.ParseKey(text); err == nil {
			t.Errorf("%q was taken for %v", text, k)
		}
	}
}

// log is a log that grows.
type log struct {
	mu   sync.Mutex
	head store.Head
}

func (l *log) Head(context.Context) (store.Head, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head, nil
}

// BEY-12: the head goes to a file and to a program, once for each time it has moved, and what cannot be reached is told.
func TestTheHeadIsWrittenDown(t *testing.T) {
	secret := strings.Repeat("s", 20)
	var got []string
	status := http.StatusOK
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || hook.VerifySignature([]byte(secret), r.Header.Get, body, at, time.Minute) != nil {
			t.Errorf("a request that is not signed: %v", err)
		}
		got = append(got, string(body))
		w.WriteHeader(status)
	}))
	defer program.Close()
	file := filepath.Join(t.TempDir(), "anchors")
	l := &log{}
	w, err := anchors.New(anchors.Options{File: file, URL: program.URL, Secret: "ssssssssssssssssssss"}, l, signer(), func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range []uint64{0, 1, 1, 2} {
		l.head = headAt(batch)
		if batch == 0 {
			l.head = store.Head{} // nothing was recorded yet
		}
		if err := w.Anchor(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	status = http.StatusBadGateway
	l.head = headAt(3)
	if err := w.Anchor(t.Context()); err == nil || !strings.Contains(err.Error(), "502") || strings.Contains(err.Error(), program.URL) {
		t.Errorf("a program that refuses: %v", err)
	}
	if s, err := w.Status(); s.Batch != 2 || err == nil {
		t.Errorf("status %+v, %v", s, err)
	}
	status = http.StatusOK
	if err := w.Anchor(t.Context()); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"file": string(raw), "program": strings.Join(got, "\n")} {
		good, bad := anchors.ReadNotes([]byte(text), signer().Key)
		if len(good) != 4 || len(bad) > 0 || good[0].Head != headAt(1) || good[3].Head != headAt(3) {
			t.Errorf("%s: %v, %v; want the heads 1, 2, 3 and 3 again", name, good, bad)
		}
	}
}
