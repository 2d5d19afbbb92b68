package valueindex_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

const megabyte = 1 << 20

// syllables make words that repeat as words of a language do.
var syllables = []string{"ka", "lo", "mi", "ten", "ver", "su", "pra", "don", "el", "ri", "gos", "ban", "chi", "tu", "or", "fen"}

// noise is a small generator with a fixed start: every run sees the same text.
type noise uint64

func (n *noise) next(below int) int {
	*n = *n*6364136223846793005 + 1442695040888963407
	return int(uint64(*n)>>33) % below
}

func (n *noise) word() string {
	var b strings.Builder
	for range 1 + n.next(3) {
		b.WriteString(syllables[n.next(len(syllables))])
	}
	return b.String()
}

// prose is free text of about that size with some addresses and figures in it.
func prose(seed, size int) string {
	n := noise(seed)
	var b strings.Builder
	for b.Len() < size {
		switch n.next(24) {
		case 0:
			fmt.Fprintf(&b, "%s.%s@%s.example ", n.word(), n.word(), n.word())
		case 1:
			fmt.Fprintf(&b, "%d.%02d ", n.next(9000), n.next(100))
		case 2:
			b.WriteString(n.word() + ".\n")
		default:
			b.WriteString(n.word() + " ")
		}
	}
	return b.String()
}

// table is a list of records in YAML of about that size.
func table(seed, size int) string {
	n := noise(seed)
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "- id: '%d'\n  name: %s %s\n  email: %s%d@%s.example\n  due: 2031-%02d-%02d 10:00:00\n  note: %s\n",
			i, n.word(), n.word(), n.word(), i, n.word(), 1+n.next(12), 1+n.next(28), n.word()+" "+n.word())
	}
	return b.String()
}

// ids is text of words that never repeat.
func ids(seed, size int) string {
	n := noise(seed)
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%08x ", n.next(1<<31))
	}
	return b.String()
}

// objects is a list of records in JSON of about that size.
func objects(seed, size int) string {
	n := noise(seed)
	var b strings.Builder
	b.WriteString("[")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"id":%d,"name":"%s %s","email":"%s%d@%s.example","note":"%s %s"},`, i, n.word(), n.word(), n.word(), i, n.word(), n.word(), n.word())
	}
	return b.String() + `{"id":0}]`
}

// cells is a table with commas of about that size.
func cells(seed, size int) string {
	n := noise(seed)
	var b strings.Builder
	b.WriteString("id,name,email,note\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d,%s %s,%s%d@%s.example,%s %s\n", i, n.word(), n.word(), n.word(), i, n.word(), n.word(), n.word())
	}
	return b.String()
}

var kinds = []struct {
	name string
	make func(seed, size int) string
}{{"prose", prose}, {"table", table}, {"ids", ids}, {"json", objects}, {"csv", cells}}

func fill(text func(seed, size int) string, size int) *valueindex.Index {
	x := valueindex.New(0)
	x.User("Please tell Mira Kestrel about the Harbour Dinner on May 26th, and see https://kontor.example/plan")
	for i := range size / (megabyte / 4) {
		x.Result(valueindex.Result{Tool: "fetch_rows", Step: uint64(i), Content: []byte(text(i+1, megabyte/4))})
	}
	return x
}

func BenchmarkIndex(b *testing.B) {
	for _, k := range kinds {
		b.Run(k.name, func(b *testing.B) {
			var texts [][]byte
			for i := range 8 {
				texts = append(texts, []byte(k.make(i+1, megabyte/4)))
			}
			size := 0
			for b.Loop() {
				x := valueindex.New(0)
				size = 0
				for _, t := range texts {
					x.Result(valueindex.Result{Content: t})
					size += len(t)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/byte")
		})
	}
}

func BenchmarkOf(b *testing.B) {
	for _, k := range kinds {
		x := fill(k.make, 10*megabyte)
		text := k.make(7, megabyte/4)
		line := text[megabyte/8 : megabyte/8+200]
		for _, v := range []struct{ name, value string }{
			{"unseen", "nobody@nowhere.example"},
			{"word", strings.Fields(line)[1]},
			{"long", strings.TrimSpace(line)},
			{"user", "harbour dinner"},
		} {
			b.Run(k.name+"/"+v.name, func(b *testing.B) {
				for b.Loop() {
					x.Of(v.value)
				}
			})
		}
	}
}

func BenchmarkMemory(b *testing.B) {
	for _, k := range kinds {
		b.Run(k.name, func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				x := fill(k.make, 10*megabyte)
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(10*megabyte), "x")
				runtime.KeepAlive(x)
			}
		})
	}
}
