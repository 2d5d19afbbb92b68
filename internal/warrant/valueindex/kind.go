package valueindex

// Kind says what a token of text is: a plain word, or one of the forms that have
// several spellings or that an act can be aimed at.
type Kind uint8

// The kinds. Email to Phone are targets: an act can be aimed at them.
const (
	Word   Kind = iota // anything else
	Number             // an amount or a plain number
	Date               // a day, with or without its year
	Time               // a time of day
	Email              // a mail address
	URL                // an address with a scheme, or a host with a path
	Host               // a dotted name that is no file
	Path               // a file or folder
	Handle             // @name
	IBAN               // an account number of that shape
	Phone              // a phone number
)

var kindNames = [...]string{
	"word", "number", "date", "time", "email", "url", "host", "path", "handle", "iban", "phone",
}

// String is the kind's name.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return kindNames[Word]
	}
	return kindNames[k]
}

// Target reports whether an act can be aimed at such a value.
func (k Kind) Target() bool { return k >= Email && k <= Phone }

// Part is one target inside a longer value, with its place in it.
type Part struct {
	Kind       Kind
	Text       string // as written
	Start, End int    // bytes of the value
}

// Targets finds what a composite value aims at: the addresses, links, hosts, paths,
// handles, account and phone numbers in it, in order. A value that is one target as a
// whole gives one part.
func Targets(value string) []Part {
	if !aims(value) {
		return nil // words and nothing else
	}
	var out []Part
	l := lexer{src: []byte(value)}
	for l.next() {
		t := l.tok
		if t.kind.Target() {
			out = append(out, Part{Kind: t.kind, Text: value[t.start:t.end], Start: t.start, End: t.end})
		}
	}
	return out
}

// EachTarget visits the parts of a text that Targets finds, until visit says that it is enough.
func EachTarget(text []byte, visit func(Part) bool) {
	if !aims(text) {
		return // words and nothing else
	}
	l := lexer{src: text}
	for l.next() {
		t := l.tok
		if t.kind.Target() && !visit(Part{Kind: t.kind, Text: string(text[t.start:t.end]), Start: t.start, End: t.end}) {
			return
		}
	}
}

// aims reports whether a text may hold a target: every kind has a sign or a digit. What is beyond ASCII is read the long
// way.
func aims[T string | []byte](text T) bool {
	for i := range len(text) {
		if aiming[text[i]] {
			return true
		}
	}
	return false
}

// aiming are the bytes that a target may be known by.
var aiming = func() (t [256]bool) {
	for _, b := range []byte("0123456789@./\\:+") {
		t[b] = true
	}
	for b := 0x80; b < len(t); b++ {
		t[b] = true
	}
	return t
}()
