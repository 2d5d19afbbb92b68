package configfile

import (
	"reflect"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// treeBuilder turns the parser's tree into ours.
type treeBuilder struct {
	of    int    // the line that was looked at last; 0: none
	runes []rune // of it
	Decoder
	file  string
	lines []string
}

func (p *treeBuilder) node(n ast.Node, path string, depth int) *Node {
	out := &Node{Path: path, lines: p.lines, Pos: Pos{p.file, 1, 1}}
	if n == nil || reflect.ValueOf(n).IsNil() {
		return out // a value the parser left out
	}
	out.Pos = p.pos(first(n))
	if depth > maxDepth {
		p.Errorf(out.Pos, "nested more than %d levels deep", maxDepth)
		return out
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		p.mapping(out, v.Values, depth)
	case *ast.MappingValueNode:
		p.mapping(out, []*ast.MappingValueNode{v}, depth)
	case *ast.SequenceNode:
		out.Kind = List
		for i, item := range v.Values {
			out.List = append(out.List, p.node(item, element(path, i), depth+1))
		}
	default:
		p.scalar(out, n)
	}
	return out
}

// first is the token a value begins with; the parser's own idea of a block map is
// its first colon.
func first(n ast.Node) *token.Token {
	switch v := n.(type) {
	case *ast.MappingNode:
		if !v.IsFlowStyle && len(v.Values) > 0 {
			return v.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return v.Key.GetToken()
	}
	return n.GetToken()
}

func (p *treeBuilder) mapping(out *Node, values []*ast.MappingValueNode, depth int) {
	out.Kind = Map
	first := map[string]Pos{}
	for _, v := range values {
		name, pos, ok := p.key(v.Key)
		if !ok {
			continue
		}
		if at, twice := first[name]; twice {
			p.Errorf(pos, "key %q is given twice, first on line %d", name, at.Line)
			continue
		}
		first[name] = pos
		out.Keys = append(out.Keys, Key{name, pos, p.node(v.Value, child(out.Path, name), depth+1)})
	}
}

// key is the text of a mapping key. Numbers and truth values are keys by their spelling.
func (p *treeBuilder) key(k ast.MapKeyNode) (string, Pos, bool) {
	n := ast.Node(k)
	if explicit, ok := n.(*ast.MappingKeyNode); ok {
		n = explicit.Value
	}
	pos := p.pos(k.GetToken())
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, pos, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return v.GetToken().Value, pos, true
	case *ast.MergeKeyNode:
		p.Hintf(pos, "write the keys out", "merge keys (<<) are not supported")
	case *ast.AliasNode:
		p.Hintf(pos, starHint, "aliases are not supported")
	default:
		p.Errorf(pos, "a key must be plain text")
	}
	return "", pos, false
}

func (p *treeBuilder) scalar(out *Node, n ast.Node) {
	switch v := n.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		out.Kind, out.Bool, out.Text = Bool, v.Value, v.Token.Value
	case *ast.IntegerNode:
		p.integer(out, v)
	case *ast.FloatNode:
		out.Kind, out.Text = Float, v.Token.Value
	case *ast.InfinityNode, *ast.NanNode:
		out.Kind, out.Text = Float, v.GetToken().Value
	case *ast.StringNode:
		out.Kind, out.Text, out.style = String, v.Value, styleOf(v.Token.Type)
	case *ast.LiteralNode:
		out.Kind, out.Text, out.style = String, v.Value.Value, block
	case *ast.AnchorNode:
		p.Hintf(out.Pos, "write the value out", "anchors (&) are not supported")
	case *ast.AliasNode:
		p.Hintf(out.Pos, "write the value out, in quotes if it begins with *", "aliases (*) are not supported")
	case *ast.TagNode:
		p.Errorf(out.Pos, "tags (!) are not supported")
	default:
		p.Errorf(out.Pos, "this kind of value is not supported")
	}
}

func (p *treeBuilder) integer(out *Node, v *ast.IntegerNode) {
	out.Kind, out.Text = Int, v.Token.Value
	switch i := v.Value.(type) {
	case int64:
		out.Int = i
	case uint64:
		out.Int = int64(min(i, 1<<63-1))
	}
}

func styleOf(t token.Type) style {
	switch t {
	case token.SingleQuoteType:
		return single
	case token.DoubleQuoteType:
		return double
	}
	return plain
}
