package configfile

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The caps. No policy a person wrote comes near them; the parser's own cost is
// quadratic in the number of keys and its recursion as deep as the nesting.
const (
	MaxBytes  = 1 << 20
	maxTokens = 30_000
	maxDepth  = 64
)

const starHint = `a key that begins with * is written in quotes: "*"`

// Parse reads one YAML document; JSON is YAML. The node of an empty file is Null.
// When the Faults hold an error the tree is nil.
func Parse(file string, src []byte) (*Node, Faults) {
	p := &treeBuilder{file: file}
	if len(src) > MaxBytes {
		p.Errorf(Pos{File: file}, "the file has %d bytes, more than the %d allowed", len(src), MaxBytes)
		return nil, p.Faults
	}
	text := normalise(src)
	p.lines = strings.Split(text, "\n")
	if !p.checkCharacters(text) {
		return nil, p.Faults
	}
	docs, ok := p.parseDocuments(text)
	if !ok {
		return nil, p.Faults
	}
	root := p.document(docs)
	p.Faults.Sort()
	if p.Faults.Err() != nil {
		return nil, p.Faults
	}
	return root, p.Faults
}

// checkCharacters refuses what is not text: two readers of it could disagree.
func (p *treeBuilder) checkCharacters(text string) bool {
	line, col := 1, 0
	for i, r := range text {
		col++
		switch {
		case r == '\n':
			line, col = line+1, 0
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			p.Errorf(Pos{p.file, line, col}, "the file is not valid UTF-8")
			return false
		case r < ' ' && r != '\t' || r == 0x7f:
			p.Errorf(Pos{p.file, line, col}, "control character %U in the file", r)
			return false
		}
	}
	return true
}

func (p *treeBuilder) parseDocuments(text string) (docs []*ast.DocumentNode, ok bool) {
	// The parser is not ours: should it ever panic on some input, the file is at
	// fault, not the program.
	defer func() {
		if r := recover(); r != nil {
			p.Errorf(Pos{File: p.file}, "the file cannot be read as YAML")
			docs, ok = nil, false
		}
	}()
	tokens := lexer.Tokenize(text)
	if !p.checkTokens(tokens) {
		return nil, false
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		p.syntax(err)
		return nil, false
	}
	return f.Docs, true
}

// syntax turns the parser's error into a fault at its place.
func (p *treeBuilder) syntax(err error) {
	var at interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &at) || at.GetToken() == nil {
		p.Errorf(Pos{File: p.file}, "the file cannot be read as YAML: %v", err)
		return
	}
	hint := ""
	switch {
	case strings.Contains(at.GetMessage(), "\t"):
		hint = "indent with spaces; YAML does not allow tabs there"
	case at.GetToken().Type == token.AliasType:
		hint = starHint
	}
	p.Hintf(p.pos(at.GetToken()), hint, "%s", strings.ReplaceAll(at.GetMessage(), "\t", `\t`))
}

// checkTokens bounds the parser's work and its recursion before it starts.
func (p *treeBuilder) checkTokens(tokens token.Tokens) bool {
	if len(tokens) > maxTokens {
		p.Errorf(Pos{File: p.file}, "the file has more than %d keys, values and marks", maxTokens)
		return false
	}
	flow, line, onLine := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			if t.Position.Line != line {
				line, onLine = t.Position.Line, 0
			}
			onLine++
		}
		if flow > maxDepth || onLine > maxDepth {
			p.Errorf(p.pos(t), "nested more than %d levels deep", maxDepth)
			return false
		}
	}
	return true
}

// pos is the place of a token. The lexer miscounts columns on lines with tabs, so
// the token's own text is looked for from where it says.
func (p *treeBuilder) pos(t *token.Token) Pos {
	at := Pos{p.file, max(t.Position.Line, 1), max(t.Position.Column, 1)}
	if at.Line > len(p.lines) {
		return at
	}
	want := []rune(strings.SplitN(strings.TrimLeft(t.Origin, " \t\n"), "\n", 2)[0])
	if at.Line != p.of { // a file may be one line
		p.of, p.runes = at.Line, []rune(p.lines[at.Line-1])
	}
	line := p.runes
	for col := at.Col; len(want) > 0 && col <= len(line); col++ {
		if line[col-1] == want[0] {
			at.Col = col
			return at
		}
	}
	at.Col = min(at.Col, len(line)+1)
	return at
}

// document makes the tree of the one document there may be.
func (p *treeBuilder) document(docs []*ast.DocumentNode) *Node {
	var body ast.Node
	for _, d := range docs {
		if _, directive := d.Body.(*ast.DirectiveNode); directive {
			p.Errorf(p.pos(d.Body.GetToken()), "YAML directives are not supported")
			return nil
		}
		if body != nil && (d.Start != nil || d.Body != nil) {
			at := d.Start
			if at == nil {
				at = d.Body.GetToken()
			}
			p.Hintf(p.pos(at), "one file holds one document", "a second document begins here")
			return nil
		}
		if d.Body != nil {
			body = d.Body
		}
	}
	if body == nil {
		return &Node{Pos: Pos{p.file, 1, 1}, lines: p.lines}
	}
	return p.node(body, "", 0)
}

func child(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
