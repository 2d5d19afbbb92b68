// Package nearby finds servers of models on this machine, and says who listens there.
//
// Any process may listen at a port, an agent's too, and whoever answers as the model can write what the user is said to
// have asked for. So a server is only ever offered to a person, with who listens; it is never looked for while calls are judged.
package nearby

import (
	"context"
	_ "embed" // the list is part of the program
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark/tidemark/internal/base/outbound"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

//go:embed servers.json
var serversFile []byte

// kind is a server that is known.
type kind struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Port     int      `json:"port"`
	Provider string   `json:"provider"` // as policy files name it
	Sign     string   `json:"sign"`     // a path that only this kind has
	List     string   `json:"list"`     // lists its models
	Base     string   `json:"base"`     // where its API begins
	Away     []string `json:"away"`     // endings of models that run elsewhere
}

var kinds = func() []kind {
	var out []kind
	if err := strictjson.UnmarshalKnown(serversFile, &out); err != nil {
		panic(fmt.Sprintf("read servers: %v", err)) // a test reads them
	}
	return out
}()

// Server is one that answered.
type Server struct {
	Name, Title, Provider string
	BaseURL               string
	Models                []string // that run here
	Listener              string   // who listens, as Listener says it; empty: nobody knows
}

// lookLimit is how long a server may take to say what it is.
const lookLimit = 300 * time.Millisecond

// Find asks each known port once.
func Find(ctx context.Context) []Server { return find(ctx, kinds) }

func find(ctx context.Context, kinds []kind) []Server {
	client := &http.Client{
		Transport: outbound.Transport(outbound.Options{LocalOnly: true}), CheckRedirect: outbound.Stay,
	}
	defer client.CloseIdleConnections()
	out := make([]*Server, len(kinds))
	var wg sync.WaitGroup
	for i := range kinds {
		wg.Go(func() { out[i] = kinds[i].find(ctx, client) })
	}
	wg.Wait()
	var found []Server
	for _, s := range out {
		if s != nil {
			found = append(found, *s)
		}
	}
	return found
}

func (k *kind) find(ctx context.Context, client *http.Client) *Server {
	base := fmt.Sprintf("http://127.0.0.1:%d", k.Port)
	if _, ok := get(ctx, client, base+k.Sign); !ok {
		return nil
	}
	list, ok := get(ctx, client, base+k.List)
	if !ok {
		return nil
	}
	s := &Server{Name: k.Name, Title: k.Title, Provider: k.Provider, BaseURL: base + k.Base, Listener: Listener(k.Port)}
	for _, m := range models(list) {
		if !slices.ContainsFunc(k.Away, func(end string) bool { return strings.HasSuffix(m, end) }) {
			s.Models = append(s.Models, m)
		}
	}
	if len(s.Models) == 0 {
		return nil
	}
	return s
}

// maxList bounds a list of models.
const maxList = 1 << 20

// get is a JSON object; false: there is none.
func get(ctx context.Context, client *http.Client, url string) ([]byte, bool) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, false
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList))
	var object map[string]strictjson.Value
	if err != nil || resp.StatusCode != http.StatusOK || strictjson.Unmarshal(body, &object) != nil || object == nil {
		return nil, false
	}
	return body, true
}

// maxModel bounds the name of a model: it is shown, and written into a file.
const maxModel = 128

// models are the names in a list of either form that people can read.
func models(list []byte) []string {
	var in struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if strictjson.Unmarshal(list, &in) != nil {
		return nil
	}
	var out []string
	add := func(name string) {
		plain := !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"'`{}", r) })
		if name != "" && len(name) <= maxModel && plain && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, m := range in.Data {
		add(m.ID)
	}
	for _, m := range in.Models {
		add(m.Name)
	}
	return out
}
