package hook

import "github.com/go-json-experiment/json/jsontext"

// JSON is a raw JSON value, kept byte for byte: what was judged is what runs. A []byte is
// assigned to it as it is.
type JSON = jsontext.Value
