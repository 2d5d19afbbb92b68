// Package upstreams is the file of the MCP servers that are reached over HTTP and were moved
// behind the gateway out of the settings of an agent. What the owner writes is in tidemark.yaml;
// this file is written by "tidemark mcp wrap", and holds the credentials that the agent no longer
// needs.
//
// It reads and makes bytes, and writes no file. The zero File has no servers. A file that cannot
// be read for certain is an error: a server must not lose its headers silently.
package upstreams

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Server is where a server is and what it wants to see.
type Server struct {
	URL     string            `json:"url"`
	Auth    string            `json:"auth,omitzero"` // none, oauth
	Headers map[string]string `json:"headers,omitzero"`
}

// Same reports whether two are one.
func (s Server) Same(o Server) bool {
	return s.URL == o.URL && s.Auth == o.Auth && maps.Equal(s.Headers, o.Headers)
}

// File is the whole of it.
type File struct {
	Servers map[string]Server `json:"servers"`
}

// Path is where it is.
func Path(data string) string { return filepath.Join(data, "mcp-servers.json") }

// Parse reads the file; nil is one that is not there.
func Parse(raw []byte) (File, error) {
	f := File{Servers: map[string]Server{}}
	if raw == nil {
		return f, nil
	}
	if err := strictjson.UnmarshalKnown(raw, &f); err != nil {
		return File{}, fmt.Errorf("read servers: %w", err)
	}
	if f.Servers == nil {
		f.Servers = map[string]Server{}
	}
	return f.Checked()
}

// Checked is the file, or what is wrong with it.
func (f File) Checked() (File, error) {
	for name, s := range f.Servers {
		u, err := outbound.URL(s.URL)
		if err == nil {
			err = outbound.Exposed(u)
		}
		if err != nil {
			return File{}, fmt.Errorf("read servers: %s: %w", name, err)
		}
		for k, v := range s.Headers {
			if err := outbound.Header(k, v); err != nil {
				return File{}, fmt.Errorf("read servers: %s: %w", name, err)
			}
		}
	}
	return f, nil
}

// Read reads the file of a data folder.
func Read(data string) (File, error) {
	raw, err := os.ReadFile(Path(data))
	if errors.Is(err, fs.ErrNotExist) {
		return Parse(nil)
	}
	if err != nil {
		return File{}, fmt.Errorf("read servers: %w", err)
	}
	return Parse(raw)
}

// Bytes is the file as it is written; nil where nothing is in it.
func (f File) Bytes() ([]byte, error) {
	if len(f.Servers) == 0 {
		return nil, nil
	}
	raw, err := strictjson.MarshalIndent(f)
	if err != nil {
		return nil, fmt.Errorf("write servers: %w", err)
	}
	return append(raw, '\n'), nil
}

// Names are those of all servers.
func (f File) Names() []string { return slices.Sorted(maps.Keys(f.Servers)) }

// Add puts a server in under its name, or under another where a different one has it or it is one of those taken, and
// says which.
func (f File) Add(name, client string, s Server, taken []string) string {
	for n := 0; ; n++ {
		try := name
		switch {
		case n == 1:
			try = name + "-" + client
		case n > 1:
			try = fmt.Sprintf("%s-%s-%d", name, client, n)
		}
		if slices.Contains(taken, try) {
			continue
		}
		if is, there := f.Servers[try]; !there || is.Same(s) {
			f.Servers[try] = s
			return try
		}
	}
}
