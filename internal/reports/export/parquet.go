package export

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
)

// Parquet as far as a table of plain columns needs it: every value is there, of two kinds, plainly encoded and
// compressed with gzip, one page for each column of a group of rows. All readers know that much, and a library for all
// of the format would be a tenth of the program.

// What the format calls its kinds of values and its codes.
const (
	kindInt64 = 2
	kindBytes = 6

	isText   = 0  // converted type UTF8
	isMicros = 10 // converted type TIMESTAMP_MICROS

	encodingPlain = 0
	encodingRLE   = 3
	codecGzip     = 2

	magic = "PAR1"
)

// column is one column of the table, and its values of the group at hand.
type column struct {
	name      string
	kind      int32
	converted int32 // -1: none
	values    []byte
}

func (c *column) number(v int64) { c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v)) }

func (c *column) text(v string) {
	c.values = append(binary.LittleEndian.AppendUint32(c.values, uint32(len(v))), v...)
}

// table writes a file of columns, group by group.
type table struct {
	to      io.Writer
	at      int64 // bytes written
	columns []*column
	rows    int64 // of the group at hand
	all     int64
	groups  [][]byte // what the end of the file says of each
}

func (t *table) write(b []byte) error {
	n, err := t.to.Write(b)
	t.at += int64(n)
	return err
}

// flush writes the group at hand.
func (t *table) flush() error {
	if t.at == 0 {
		if err := t.write([]byte(magic)); err != nil {
			return err
		}
	}
	if t.rows == 0 {
		return nil
	}
	chunks := make([][]byte, 0, len(t.columns))
	size := int64(0)
	for _, c := range t.columns {
		chunk, n, err := t.page(c)
		if err != nil {
			return err
		}
		chunks, size = append(chunks, chunk), size+n
		c.values = c.values[:0]
	}
	var g compact
	g.structs(1, chunks)
	g.int64(2, size)
	g.int64(3, t.rows)
	t.groups = append(t.groups, g.end())
	t.all, t.rows = t.all+t.rows, 0
	return nil
}

// page writes the values of a column, and is what the end of the file says of them, with their size.
func (t *table) page(c *column) (chunk []byte, size int64, err error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(c.values); err != nil {
		return nil, 0, err
	}
	if err := z.Close(); err != nil {
		return nil, 0, err
	}
	var page, header compact
	page.int32(1, int32(t.rows)) // a group is small
	page.int32(2, encodingPlain)
	page.int32(3, encodingRLE)
	page.int32(4, encodingRLE)
	header.int32(1, 0)                    // a data page
	header.int32(2, int32(len(c.values))) // a group is small
	header.int32(3, int32(packed.Len()))  // smaller still
	header.structure(5, page.end())
	head := header.end()
	from := t.at
	if err := t.write(head); err != nil {
		return nil, 0, err
	}
	if err := t.write(packed.Bytes()); err != nil {
		return nil, 0, err
	}
	size = int64(len(head) + len(c.values))
	var meta, out compact
	meta.int32(1, c.kind)
	meta.int32s(2, encodingPlain, encodingRLE)
	meta.texts(3, c.name)
	meta.int32(4, codecGzip)
	meta.int64(5, t.rows)
	meta.int64(6, size)
	meta.int64(7, t.at-from)
	meta.int64(9, from)
	out.int64(2, from)
	out.structure(3, meta.end())
	return out.end(), size, nil
}

// close writes the rest, and the end of the file: the schema, and where everything is.
func (t *table) close() error {
	if err := t.flush(); err != nil {
		return err
	}
	var root compact
	root.text(4, "records")
	root.int32(5, int32(len(t.columns))) // a few
	schema := [][]byte{root.end()}
	for _, c := range t.columns {
		var e compact
		e.int32(1, c.kind)
		e.int32(3, 0) // every value is there
		e.text(4, c.name)
		if c.converted >= 0 {
			e.int32(6, c.converted)
		}
		schema = append(schema, e.end())
	}
	var f compact
	f.int32(1, 1)
	f.structs(2, schema)
	f.int64(3, t.all)
	f.structs(4, t.groups)
	f.text(6, "tidemark")
	end := f.end()
	end = binary.LittleEndian.AppendUint32(end, uint32(len(end)))
	return t.write(append(end, magic...))
}

// compact writes a structure in Thrift's compact protocol, in which Parquet describes itself. Fields come in the order
// of their numbers.
type compact struct {
	b    []byte
	last int
}

// Thrift's kinds of fields.
const (
	thriftInt32  = 5
	thriftInt64  = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

func (c *compact) field(id int, kind byte) {
	c.b = append(c.b, byte(id-c.last)<<4|kind) // numbers never lie far apart here
	c.last = id
}

func (c *compact) int32(id int, v int32) {
	c.field(id, thriftInt32)
	c.b = binary.AppendVarint(c.b, int64(v))
}

func (c *compact) int64(id int, v int64) {
	c.field(id, thriftInt64)
	c.b = binary.AppendVarint(c.b, v)
}

func (c *compact) text(id int, v string) {
	c.field(id, thriftBinary)
	c.b = append(binary.AppendUvarint(c.b, uint64(len(v))), v...)
}

func (c *compact) structure(id int, body []byte) {
	c.field(id, thriftStruct)
	c.b = append(c.b, body...)
}

func (c *compact) list(id, size int, kind byte) {
	c.field(id, thriftList)
	if size < 15 {
		c.b = append(c.b, byte(size)<<4|kind)
		return
	}
	c.b = binary.AppendUvarint(append(c.b, 0xf0|kind), uint64(size))
}

func (c *compact) int32s(id int, values ...int32) {
	c.list(id, len(values), thriftInt32)
	for _, v := range values {
		c.b = binary.AppendVarint(c.b, int64(v))
	}
}

func (c *compact) texts(id int, values ...string) {
	c.list(id, len(values), thriftBinary)
	for _, v := range values {
		c.b = append(binary.AppendUvarint(c.b, uint64(len(v))), v...)
	}
}

func (c *compact) structs(id int, values [][]byte) {
	c.list(id, len(values), thriftStruct)
	for _, v := range values {
		c.b = append(c.b, v...)
	}
}

// end is the structure.
func (c *compact) end() []byte { return append(c.b, 0) }
