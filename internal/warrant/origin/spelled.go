package origin

import (
	"bytes"
	"encoding/json"
	"io"
)

// maxSpelled bounds how often JSON in JSON is taken apart.
const maxSpelled = 3

// spelled is the text that JSON holds: its keys and values, each on lines of its own, as whoever
// wrote them meant them. A host may hand on a page as a text in an object, where the end of a line
// is written \n; who reads the page knows nothing of that. Other content stays as it is.
func spelled(content []byte, depth int) []byte {
	text := bytes.TrimSpace(content)
	if len(text) < 2 || depth >= maxSpelled || bytes.IndexByte([]byte(`{["`), text[0]) < 0 || !json.Valid(text) {
		return content
	}
	var out bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err == io.EOF {
			return out.Bytes()
		}
		if err != nil {
			return content // it is valid, so this does not happen
		}
		switch t := t.(type) {
		case string:
			out.Write(spelled([]byte(t), depth+1))
		case json.Number:
			out.WriteString(t.String())
		default:
			continue // brackets, and what is true, false or nothing
		}
		out.WriteByte('\n')
	}
}
