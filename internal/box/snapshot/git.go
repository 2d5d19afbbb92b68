package snapshot

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the name that git gives
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tracked is what a repository's index says of a file.
type tracked struct {
	blob string
	size uint32
}

var errIndex = errors.New("the index cannot be read")

// readIndex reads a repository's index without asking git: a repository can have git run programs when it is asked.
func readIndex(raw []byte, width int) (map[string]tracked, error) {
	if len(raw) < 12 || string(raw[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(raw[4:]), binary.BigEndian.Uint32(raw[8:])
	if version < 2 || version > 4 {
		return nil, errIndex
	}
	out, at, last := map[string]tracked{}, 12, ""
	for range count {
		start := at
		if len(raw) < at+40+width+2 {
			return nil, errIndex
		}
		t := tracked{size: binary.BigEndian.Uint32(raw[at+36:]), blob: hex.EncodeToString(raw[at+40 : at+40+width])}
		mode := binary.BigEndian.Uint32(raw[at+24:])
		flags := binary.BigEndian.Uint16(raw[at+40+width:])
		at += 40 + width + 2
		if flags&0x4000 != 0 { // it has more of them
			at += 2
		}
		name, next, err := indexName(raw, at, start, version, last)
		if err != nil {
			return nil, err
		}
		at, last = next, name
		if mode>>12 == 0o10 && filepath.IsLocal(name) { // a plain file
			out[name] = t
		}
	}
	return out, nil
}

// indexName reads the name of an entry: padded in the older forms, the end of the one before replaced in the newest.
func indexName(raw []byte, at, start int, version uint32, last string) (string, int, error) {
	head := ""
	if version == 4 {
		cut, n := 0, 0
		for ; ; n++ {
			if at+n >= len(raw) || n > 4 {
				return "", 0, errIndex
			}
			b := raw[at+n]
			if n > 0 {
				cut++
			}
			cut = cut<<7 | int(b&0x7f)
			if b&0x80 == 0 {
				break
			}
		}
		at += n + 1
		if cut > len(last) {
			return "", 0, errIndex
		}
		head = last[:len(last)-cut]
	}
	if at > len(raw) {
		return "", 0, errIndex
	}
	end := bytes.IndexByte(raw[at:], 0)
	if end < 0 {
		return "", 0, errIndex
	}
	name := head + string(raw[at:at+end])
	at += end + 1
	if version < 4 {
		at = start + (at-start+7)/8*8
	}
	return name, at, nil
}

// repository is what is known of the repository at the root of a workspace.
type repository struct {
	folder  string // its own
	width   int    // of its names
	tracked map[string]tracked
}

// repositoryOf reads the repository of a workspace, if it has one. Where anything of it is unusual it has none: everything is copied.
func repositoryOf(workspace, elsewhere string) *repository {
	folder := filepath.Join(workspace, ".git")
	if elsewhere != "" {
		text, err := os.ReadFile(folder)
		dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if err != nil || !ok || !filepath.IsAbs(dir) {
			return nil
		}
		folder = dir
	}
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() { //nolint:gosec // as git itself does; what is unusual is not used
		return nil
	}
	r := &repository{folder: folder, width: sha1.Size}
	config, _ := os.ReadFile(filepath.Join(folder, "config")) //nolint:gosec // likewise
	if elsewhere != "" {
		config, _ = os.ReadFile(filepath.Join(elsewhere, "config"))
	}
	lower := strings.ToLower(string(config))
	if strings.Contains(lower, "promisor") || strings.Contains(lower, "partialclone") { // it does not have all objects
		return nil
	}
	if strings.Contains(lower, "objectformat") && strings.Contains(lower, "sha256") {
		r.width = sha256.Size
	}
	raw, err := os.ReadFile(filepath.Join(folder, "index")) //nolint:gosec // likewise
	if err != nil {
		return nil
	}
	if r.tracked, err = readIndex(raw, r.width); err != nil {
		return nil
	}
	return r
}

// Tracked is what git calls the bytes of those files of a workspace that its repository's index has, by path, of some names. Nothing of
// the repository is run, and no object of it read.
func Tracked(workspace string, named func(path string) bool) map[string]string {
	r := repositoryOf(workspace, "")
	if r == nil {
		return nil
	}
	out := map[string]string{}
	for path, t := range r.tracked {
		if named(path) {
			out[filepath.ToSlash(path)] = t.blob
		}
	}
	return out
}

// holds reports whether the bytes of a file are those that the repository has under a name.
func (r *repository) holds(f io.Reader, size int64, blob string) bool {
	return r != nil && nameOf(f, size, r.width) == blob
}

// nameOf is what git calls bytes.
func nameOf(f io.Reader, size int64, width int) string {
	h := sha1.New() //nolint:gosec // as above
	if width == sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	if n, err := io.Copy(h, f); err != nil || n != size {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// object reads an object of a repository. Reading one runs nothing of the repository's.
func object(folder, blob string, to io.Writer) error {
	cmd := exec.Command("git", "cat-file", "blob", blob) //nolint:gosec // a name in hexadecimal digits
	cmd.Env = []string{
		"GIT_DIR=" + folder, "PATH=" + os.Getenv("PATH"), "GIT_NO_LAZY_FETCH=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}
	cmd.Stdout = to
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("read object %s: %w %s", blob, err, strings.TrimSpace(said.String()))
	}
	return nil
}
