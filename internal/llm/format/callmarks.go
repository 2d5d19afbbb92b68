package format

import "bytes"

// callMarks are what JSON of any format has where it carries a tool call, as key or as type;
// the last are of formats that are not served here.
var callMarks = func() (out [][]byte) {
	for _, d := range dialects {
		if d != nil {
			out = append(out, d.callMarks...)
		}
	}
	return append(out, []byte(`"tool_call"`), []byte(`"toolUse"`))
}()

// LongestCallMark is more than the longest of them and the byte before it.
const LongestCallMark = 24

// HoldsCall reports whether JSON of an unknown format, or a piece of it, looks as if it held
// a tool call: one of the marks is there as a string of its own. In the text of another
// string its quotes are escaped.
func HoldsCall(b []byte) bool {
	for _, mark := range callMarks {
		for i := 0; ; {
			n := bytes.Index(b[i:], mark)
			if n < 0 {
				break
			}
			if i += n; i == 0 || b[i-1] != '\\' {
				return true
			}
			i += len(mark)
		}
	}
	return false
}
