package scenario

import (
	"fmt"

	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// appendJSON writes a node as the JSON an agent would send: keys in the order of the
// file, so that the digest of a call is what its author wrote.
func appendJSON(b []byte, n *configfile.Node) ([]byte, error) {
	if n.Empty() {
		return append(b, "null"...), nil
	}
	switch n.Kind {
	case configfile.Bool:
		return fmt.Appendf(b, "%t", n.Bool), nil
	case configfile.Int:
		return fmt.Appendf(b, "%d", n.Int), nil
	case configfile.Float:
		return nil, fmt.Errorf("%s: fractions are not supported in arguments", n.Path)
	case configfile.List:
		return appendList(b, n.List)
	case configfile.Map:
		return appendMap(b, n.Keys)
	}
	return strictjson.Append(b, n.Text)
}

func appendList(b []byte, items []*configfile.Node) ([]byte, error) {
	b = append(b, '[')
	var err error
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendJSON(b, item); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendMap(b []byte, keys []configfile.Key) ([]byte, error) {
	b = append(b, '{')
	var err error
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = strictjson.Append(b, k.Name); err != nil {
			return nil, err
		}
		b = append(b, ':')
		if b, err = appendJSON(b, k.Value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}
