package audience

import (
	"strings"

	"github.com/tidemark/tidemark/internal/base/pack"
	"github.com/tidemark/tidemark/internal/warrant/arguments"
	"github.com/tidemark/tidemark/internal/warrant/valueindex"
)

// Field is a field of a record: what it is called, in words, and what it says.
type Field struct {
	Key   []string
	Value string
}

// maxFields and longestField bound what is kept of a result: the fields of one record and not of a list of them.
const (
	maxFields    = 64
	longestField = 200
)

// Fields are the fields of a result that is one record: an object, or lines that each name what they say. None: it is no record, or
// there are several.
func Fields(content []byte) []Field {
	var out []Field
	add := func(key, value string) {
		words := arguments.NameWords(strings.Trim(key, "*_` "))
		if value = strings.TrimSpace(value); value != "" && len(value) <= longestField && len(words) > 0 && len(words) <= fewWords {
			out = append(out, Field{words, value})
		}
	}
	if len(content) > most {
		return nil
	}
	v, ok := valueindex.Parse(content)
	switch {
	case ok && v.Shape == valueindex.List:
		return nil
	case ok && v.Shape == valueindex.Object:
		for i := range v.Kids {
			if k := &v.Kids[i]; k.Shape == valueindex.Scalar {
				add(k.Key, k.Text)
			}
		}
	default:
		for line := range strings.Lines(string(content)) {
			if key, value, ok := strings.Cut(strings.Trim(line, "-*>|• \t\r\n"), ": "); ok {
				add(key, value)
			}
		}
	}
	if len(out) > maxFields {
		return nil
	}
	return out
}

// PackFields writes fields.
func PackFields(w *pack.Writer, fields []Field) {
	pack.List(w, fields, func(f *Field) {
		w.Texts(f.Key)
		w.Text(f.Value)
	})
}

// UnpackFields reads what was packed.
func UnpackFields(r *pack.Reader) []Field {
	return pack.ReadList(r, func(f *Field) { *f = Field{Key: r.Texts(), Value: r.Text()} })
}
