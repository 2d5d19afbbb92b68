// Package eventstream is Amazon's framing of a stream of events (application/vnd.amazon.eventstream),
// and its translation from and to the event streams that everybody else speaks, in which answers
// are judged.
//
// Invariants:
//   - a frame whose checksums, lengths or headers are wrong ends the stream with an error;
//   - what goes out was framed here: no header, padding or byte of a frame that came in is passed on
//     but its payload, after it was judged;
//   - what is kept is bounded by MaxFrame.
//
// It reads and writes only what it is handed, and starts nothing.
package eventstream

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/tidemark/tidemark/internal/llm/format"
)

// MediaType is what such a stream is called in a header.
const MediaType = "application/vnd.amazon.eventstream"

// MaxFrame is how long a frame may be; Amazon's own bound is lower.
const MaxFrame = 24 << 20

const (
	preludeSize = 12 // both lengths and their checksum
	tailSize    = 4  // the checksum of all
	stringType  = 7
)

var errFrame = format.Refused("a frame of the event stream is broken")

// frame is one message: the headers that are texts, and what it carries.
type frame struct {
	headers map[string]string
	payload []byte
}

// next is the first frame in b and its size; 0 where it is not complete yet.
func next(b []byte) (f frame, size int, err error) {
	if len(b) < preludeSize {
		return f, 0, nil
	}
	total, headers := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]) || total > MaxFrame ||
		total < preludeSize+tailSize || headers > total-preludeSize-tailSize {
		return f, 0, errFrame
	}
	if uint32(len(b)) < total { // bounded by MaxFrame and what was read
		return f, 0, nil
	}
	end := int(total) - tailSize
	if crc32.ChecksumIEEE(b[:end]) != binary.BigEndian.Uint32(b[end:]) {
		return f, 0, errFrame
	}
	from := preludeSize + int(headers)
	if f.headers, err = readHeaders(b[preludeSize:from]); err != nil {
		return f, 0, err
	}
	f.payload = b[from:end]
	return f, int(total), nil
}

// valueSizes are the sizes of the values of headers by their type; -1 is one that says its own.
var valueSizes = [...]int{0, 0, 1, 2, 4, 8, -1, -1, 8, 16}

// readHeaders reads the headers of a frame. A name that comes twice is read in different ways.
func readHeaders(b []byte) (map[string]string, error) {
	out := map[string]string{}
	for len(b) > 0 {
		n := int(b[0])
		if n == 0 || len(b) < n+2 || int(b[n+1]) >= len(valueSizes) {
			return nil, errFrame
		}
		name, kind := string(b[1:n+1]), b[n+1]
		b = b[n+2:]
		size := valueSizes[kind]
		if size < 0 {
			if len(b) < 2 {
				return nil, errFrame
			}
			size, b = int(binary.BigEndian.Uint16(b)), b[2:]
		}
		if _, twice := out[name]; twice || len(b) < size {
			return nil, errFrame
		}
		out[name] = ""
		if kind == stringType {
			out[name] = string(b[:size])
		}
		b = b[size:]
	}
	return out, nil
}

// appendFrame writes a frame. Headers are names and values in turn.
func appendFrame(out []byte, payload []byte, headers ...string) []byte {
	var head []byte
	for i := 0; i+1 < len(headers); i += 2 {
		head = append(append(append(head, byte(len(headers[i]))), headers[i]...), stringType)
		head = append(binary.BigEndian.AppendUint16(head, uint16(len(headers[i+1]))), headers[i+1]...) // names of ours
	}
	at := len(out)
	out = binary.BigEndian.AppendUint32(out, uint32(preludeSize+len(head)+len(payload)+tailSize)) // bounded by what is held
	out = binary.BigEndian.AppendUint32(out, uint32(len(head)))                                   // a few headers
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at:]))
	out = append(append(out, head...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at:]))
}
