// Package anchors writes down outside where the log stands, so that whoever can write the log, and the key beside it, cannot take
// back what it held at that time: as lines in a file elsewhere, and as requests to a program of somebody else's.
//
// What is written down is a checkpoint as transparency logs have it: a signed note (c2sp.org/signed-note,
// c2sp.org/tlog-checkpoint) with the name of the log, how many commits it has, the hash of its ledger, and when that was. Any
// program that reads such notes can check the signature; the hash is that of our ledger, a chain and not a tree.
//
// It does I/O and starts no goroutine. Invariants:
//   - a note is believed only with a good signature of a key that the reader was given;
//   - an anchor that cannot be written is an error that is told, and holds nothing up.
package anchors

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/audit"
	"github.com/tidemark/tidemark/internal/store"
)

// Checkpoint is where a log stood.
type Checkpoint struct {
	Origin string     `json:"origin"` // name of the log
	Head   store.Head `json:"head"`
	Time   time.Time  `json:"time"`
}

const timePrefix, recordsPrefix = "time ", "records "

// text is what is signed: the three lines that checkpoints have, and two of ours.
func (c *Checkpoint) text() string {
	return fmt.Sprintf("%s\n%d\n%s\n%s%d\n%s%s\n", c.Origin, c.Head.Batch, base64.StdEncoding.EncodeToString(c.Head.Hash[:]),
		recordsPrefix, c.Head.Records, timePrefix, c.Time.UTC().Format(time.RFC3339))
}

func parseText(text string) (c Checkpoint, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 3 {
		return c, errors.New("a checkpoint has at least three lines")
	}
	c.Origin = lines[0]
	if c.Head.Batch, err = strconv.ParseUint(lines[1], 10, 64); err != nil {
		return c, fmt.Errorf("%q is no number of commits", lines[1])
	}
	hash, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(hash) != len(c.Head.Hash) {
		return c, fmt.Errorf("%q is no hash", lines[2])
	}
	c.Head.Hash = audit.Hash(hash)
	for _, line := range lines[3:] { // others may be there, and mean nothing to us
		if v, ok := strings.CutPrefix(line, recordsPrefix); ok {
			c.Head.Records, err = strconv.ParseInt(v, 10, 64)
		} else if v, ok := strings.CutPrefix(line, timePrefix); ok {
			c.Time, err = time.Parse(time.RFC3339, v)
		}
		if err != nil {
			return c, fmt.Errorf("%q cannot be read", line)
		}
	}
	return c, nil
}

// algorithm is Ed25519 in the names of keys.
const algorithm = 1

// Key is who signs, as readers of notes know them. The zero Key has signed nothing.
type Key struct {
	name   string
	public ed25519.PublicKey
}

// hash tells keys of one name apart.
func (k Key) hash() (out [4]byte) {
	sum := sha256.Sum256(append([]byte(k.name+"\n"), k.typed()...))
	copy(out[:], sum[:])
	return out
}

func (k Key) typed() []byte { return append([]byte{algorithm}, k.public...) }

// String is the key as programs that check notes take it: name+hash+key.
func (k Key) String() string {
	hash := k.hash()
	return k.name + "+" + hex.EncodeToString(hash[:]) + "+" + base64.StdEncoding.EncodeToString(k.typed())
}

// ParseKey reads what String wrote.
func ParseKey(text string) (Key, error) {
	name, rest, _ := strings.Cut(text, "+")
	sum, encoded, ok := strings.Cut(rest, "+")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(raw) != 1+ed25519.PublicKeySize || raw[0] != algorithm {
		return Key{}, errors.New("want name+hash+key, as tidemark log anchor --key prints it")
	}
	k := Key{name, ed25519.PublicKey(raw[1:])}
	if hash := k.hash(); hex.EncodeToString(hash[:]) != sum {
		return Key{}, errors.New("the hash of the key does not fit it: a part is missing or changed")
	}
	return k, nil
}

// Signer signs checkpoints of one log.
type Signer struct {
	Key
	private ed25519.PrivateKey
}

// NewSigner makes one of a secret of 32 bytes: whoever has the same signs alike. The name of the log is taken from its key.
func NewSigner(seed []byte) Signer {
	private := ed25519.NewKeyFromSeed(seed)
	public := ed25519.PublicKey(private[ed25519.SeedSize:])
	sum := sha256.Sum256(public)
	return Signer{Key{"tidemark-" + hex.EncodeToString(sum[:6]), public}, private}
}

// signed begins the lines with signatures.
const signed = "— "

// Sign is the note of a checkpoint.
func (s Signer) Sign(head store.Head, at time.Time) []byte {
	c := Checkpoint{Origin: s.name, Head: head, Time: at}
	text, hash := c.text(), s.hash()
	signature := base64.StdEncoding.EncodeToString(append(hash[:], ed25519.Sign(s.private, []byte(text))...))
	return []byte(text + "\n" + signed + s.name + " " + signature + "\n")
}

// open reads a note; one without a good signature of the key is an error.
func (k Key) open(text string, signatures []string) (Checkpoint, error) {
	want := k.hash()
	for _, line := range signatures {
		name, encoded, _ := strings.Cut(strings.TrimPrefix(line, signed), " ")
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(raw) != len(want)+ed25519.SignatureSize || name != k.name {
			continue // of somebody else, who may have signed it too
		}
		if binary.BigEndian.Uint32(raw) == binary.BigEndian.Uint32(want[:]) && ed25519.Verify(k.public, []byte(text), raw[len(want):]) {
			return parseText(text)
		}
	}
	return Checkpoint{}, fmt.Errorf("it has no good signature of %s", k.name)
}

// ReadNotes reads notes that stand one after the other, with or without blank lines between them. Of each it gives the
// checkpoint, or an error where it is not signed by the key or cannot be read.
func ReadNotes(raw []byte, k Key) (good []Checkpoint, bad []error) {
	var text strings.Builder
	var signatures []string
	begun, gap := 1, false // a blank line stands before the signatures
	end := func() {
		if text.Len() == 0 && len(signatures) == 0 {
			return
		}
		c, err := k.open(text.String(), signatures)
		if err != nil {
			bad = append(bad, fmt.Errorf("the checkpoint at line %d: %w", begun, err))
		} else {
			good = append(good, c)
		}
		text.Reset()
		signatures, gap = nil, false
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		n++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		switch {
		case strings.HasPrefix(line, signed):
			signatures = append(signatures, line)
		case line == "" && len(signatures) > 0:
			end()
		case line == "":
			gap = text.Len() > 0
		default:
			if len(signatures) > 0 || gap { // the one before has no signatures: it was cut short
				end()
			}
			if text.Len() == 0 {
				begun = n
			}
			text.WriteString(line + "\n")
		}
	}
	end()
	return good, bad
}
