package valueindex

import "bytes"

const (
	maxDepth  = 64  // nesting that is still structure
	maxScalar = 200 // bytes of a scalar that is still a field, not prose
	maxKey    = 64  // bytes of a key
)

// keptNodes is how many nodes have their room kept for what is read next.
const keptNodes = 128

// shapeOf a node of parsed content.
type nodeKind uint8

const (
	scalar nodeKind = iota
	object
	list
)

// node is one value of parsed content. A forest holds nodes in the order they were
// read; the children of a node follow it up to end.
type node struct {
	key  []byte // in an object
	text []byte // of a scalar, decoded
	end  int
	kind nodeKind
}

// forest is parsed content. A parser that gives up leaves it unusable: the content is
// then free text.
type forest struct {
	nodes []node
	arena []byte // decoded strings; replaced, never moved, when full
}

// reset lets go of what was read.
func (f *forest) reset() {
	if cap(f.nodes) > keptNodes { // every conversation has one of these
		f.nodes = nil
	}
	clear(f.nodes)
	f.nodes, f.arena = f.nodes[:0], nil
}

func (f *forest) open(kind nodeKind, key []byte) int {
	f.nodes = append(f.nodes, node{kind: kind, key: key})
	return len(f.nodes) - 1
}

func (f *forest) close(i int) { f.nodes[i].end = len(f.nodes) }

func (f *forest) leaf(key, text []byte) {
	f.nodes = append(f.nodes, node{key: key, text: text, end: len(f.nodes) + 1})
}

// room gives an empty slice with space for n bytes that stays where it is.
func (f *forest) room(n int) []byte {
	if cap(f.arena)-len(f.arena) < n {
		f.arena = make([]byte, 0, max(n, 4096))
	}
	return f.arena[len(f.arena):len(f.arena):cap(f.arena)]
}

// keep makes what was written into room part of the arena.
func (f *forest) keep(b []byte) []byte {
	f.arena = f.arena[:len(f.arena)+len(b)]
	return b[:len(b):len(b)]
}

// parse reads content as a whole into the forest. It is false for free text.
func (f *forest) parse(content []byte) bool {
	f.reset()
	content = bytes.TrimSpace(content)
	if len(content) == 0 {
		return false
	}
	try := []func([]byte) bool{f.yaml, f.markdown, f.csv}
	if content[0] == '{' || content[0] == '[' {
		try = []func([]byte) bool{f.literals}
	}
	for _, read := range try {
		f.reset()
		if read(content) && len(f.nodes) > 0 {
			return true
		}
	}
	return false
}

// prose reports whether a scalar is free text rather than a field.
func prose(text []byte) bool {
	return len(text) > maxScalar || bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0
}
