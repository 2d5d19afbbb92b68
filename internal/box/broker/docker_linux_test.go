package broker_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box"
	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/test/boxtest"
	"github.com/tidemark/tidemark/internal/warrant/outgoing"
)

// harbour is an office with an engine of containers: as much of its interface as the client needs.
type harbour struct {
	*office
	engine string
	as     []string
}

func newHarbour(t *testing.T) *harbour {
	t.Helper()
	boxtest.Needs(t, "docker")
	o := &harbour{office: &office{World: boxtest.New(t), t: t}}
	o.engine = filepath.Join(o.Dir, "e.sock")
	l, err := net.Listen("unix", o.engine)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(o.serve)}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return o
}

func (o *harbour) serve(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.seen = append(o.seen, r.Method+" "+r.URL.Path)
	o.as = append(o.as, r.Header.Get("X-Registry-Auth"))
	o.mu.Unlock()
	w.Header().Set("Api-Version", "1.45")
	w.Header().Set("Ostype", "linux")
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v"), "/")
	id := strings.Repeat("ab", 32)
	switch {
	case strings.HasSuffix(r.URL.Path, "/_ping"):
		_, _ = w.Write([]byte("OK"))
	case path == "containers/json":
		_ = json.NewEncoder(w).Encode([]any{map[string]any{"Id": id, "Image": "acme/web", "Names": []string{"/web"}, "State": "running", "Status": "Up"}})
	case path == "containers/web/json":
		_ = json.NewEncoder(w).Encode(map[string]any{"Id": id, "Name": "/web", "Config": map[string]any{"Tty": true}, "State": map[string]any{"Running": true}})
	case strings.HasSuffix(path, "/logs"):
		_, _ = w.Write([]byte("it runs\n"))
	case path == "images/create", strings.HasSuffix(path, "/push"):
		_, _ = w.Write([]byte(`{"status": "done"}` + "\n"))
	case path == "info", path == "version":
		_ = json.NewEncoder(w).Encode(map[string]any{"IndexServerAddress": "https://index.docker.io/v1/", "ApiVersion": "1.45"})
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (o *harbour) does(line string) (broker.Question, int, string) {
	o.t.Helper()
	if o.session == nil {
		o.want = o.Want("session")
		o.session = o.Open(o.want)
	}
	o.want.Env = o.Env
	f, ok := outgoing.Plain(line)
	if !ok || !f.Brokered {
		o.t.Fatalf("%s is no plain form for the broker", line)
	}
	b := broker.New(broker.Options{Want: o.want, State: filepath.Dir(o.want.State), Relay: o.opts, Engine: o.engine,
		Inside: func(context.Context, box.Command) (box.Exit, error) {
			return box.Exit{}, errors.New("nothing is run in the session")
		}})
	d, err := b.Prepare(o.t.Context(), f)
	if err != nil {
		o.t.Fatalf("%s: %v", line, err)
	}
	code, out, err := o.run(d)
	if err != nil {
		o.t.Fatalf("%s: %d %v\n%s", line, code, err, out)
	}
	return d.Question, code, out
}

// BOX-02: the engine is asked for what one command of docker's is, and nothing of a hostile workspace runs or is asked for.
func TestTheEngineOfContainersIsAskedForOneThing(t *testing.T) {
	o := newHarbour(t)
	o.does("docker ps")
	x := o.evil("x.sh")
	for _, name := range []string{"bin/docker", "bin/docker-credential-evil", "cli-plugins/docker-ps"} {
		o.evil(name)
	}
	o.Put(filepath.Join(o.Work, "config.json"), `{"credsStore": "evil", "currentContext": "evil", "cliPluginsExtraDirs": ["`+o.Work+`/cli-plugins"], "psFormat": "{{.ID}}", "aliases": {"builder": "`+x+`"}}`)
	o.Put(filepath.Join(o.Home, ".docker/config.json"), `{"auths": {"registry.acme.example": {"auth": "`+base64.StdEncoding.EncodeToString([]byte("owner:word"))+`"}}}`)
	o.Env = append(o.Env, "DOCKER_HOST=tcp://evil.example:2375", "DOCKER_CONFIG="+o.Work, "DOCKER_CONTEXT=evil", "DOCKER_CERT_PATH="+o.Work, "HTTP_PROXY=http://evil.example")
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + o.Work + "/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
	if q, code, out := o.does("docker ps --no-trunc"); code != 0 || !strings.Contains(out, "acme/web") || q.Verb != "look" || q.Host != "localhost" {
		t.Errorf("%+v %d %s", q, code, out)
	}
	if _, code, out := o.does("docker logs --tail 5 web"); code != 0 || !strings.Contains(out, "it runs") {
		t.Errorf("%d %s", code, out)
	}
	if q, code, out := o.does("docker restart web"); code != 0 || q.Verb != "submit" {
		t.Errorf("%+v %d %s", q, code, out)
	}
	if _, code, out := o.does("docker pull acme/web:1.2"); code != 0 {
		t.Errorf("%d %s", code, out)
	}
	if _, code, out := o.does("docker push registry.acme.example/web:1.2"); code != 0 {
		t.Errorf("%d %s", code, out)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if raw, _ := base64.URLEncoding.DecodeString(o.as[len(o.as)-1]); !strings.Contains(string(raw), "owner") {
		t.Errorf("pushed as %s", raw)
	}
	for _, s := range o.seen {
		if strings.Contains(s, "exec") || strings.Contains(s, "containers/create") || strings.Contains(s, "evil") {
			t.Errorf("the engine was asked for %s", s)
		}
	}
	if len(o.names) > 0 {
		t.Errorf("names were asked outside: %v", o.names)
	}
}

// Whatever speaks at the door, it is let to the one command's requests.
func TestTheDoorOfTheEngine(t *testing.T) {
	for _, row := range []struct {
		verb string
		own  []string
		yes  []string
		no   []string
	}{
		{"ps", nil, []string{"GET /v1.45/containers/json", "GET /containers/json", "HEAD /_ping"}, []string{"POST /v1.45/containers/create", "GET /v1.45/containers/web/json", "GET /v1.45/images/json", "GET /v1.45/containers/web/archive", "POST /v1.45/build"}},
		{"logs", []string{"web"}, []string{"GET /v1.45/containers/web/json", "GET /v1.45/containers/" + strings.Repeat("a", 64) + "/logs"}, []string{"GET /v1.45/containers/other/json", "GET /v1.45/containers/web/export", "POST /v1.45/containers/web/exec", "GET /v1.45/containers/../images/json", "GET /v1.45/containers/web/../db/logs"}},
		{"pull", []string{"acme/web:1"}, []string{"POST /v1.45/images/create?fromImage=acme/web&tag=1", "POST /v1.45/images/create?fromImage=docker.io/acme/web&tag=1"}, []string{"POST /v1.45/images/create?fromImage=evil/web", "POST /v1.45/images/create?fromSrc=-", "POST /v1.45/images/create?fromImage=acme/web&fromSrc=http://evil.example", "POST /v1.45/images/load"}},
		{"push", []string{"r.example/a:1"}, []string{"POST /v1.45/images/r.example/a/push?tag=1"}, []string{"POST /v1.45/images/r.example/b/push", "POST /v1.45/images/r.example/a/tag"}},
		{"rm", []string{"web"}, []string{"DELETE /v1.45/containers/web?force=1"}, []string{"DELETE /v1.45/containers/db", "DELETE /v1.45/volumes/web"}},
	} {
		for _, list := range [][]string{row.yes, row.no} {
			for _, text := range list {
				method, target, _ := strings.Cut(text, " ")
				r, err := http.NewRequest(method, "http://localhost"+target, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := broker.Lets(row.verb, row.own, r), slices.Contains(row.yes, text); got != want {
					t.Errorf("%s: %s: %v", row.verb, text, got)
				}
			}
		}
	}
}
