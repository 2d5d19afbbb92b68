package wire

import "bytes"

// Escape writes the line ends that some readers of streams know, and JSON does not, so that no
// reader finds one inside a message. They can stand only in strings, so the value stays what it is.
func Escape(message []byte) []byte {
	for _, sep := range separators {
		if bytes.Contains(message, sep.raw) {
			message = bytes.ReplaceAll(message, sep.raw, sep.escaped)
		}
	}
	return message
}

var separators = []struct{ raw, escaped []byte }{
	{[]byte("\u2028"), []byte(`\u2028`)}, {[]byte("\u2029"), []byte(`\u2029`)}, {[]byte("\u0085"), []byte(`\u0085`)},
}
