package broker_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/box/broker"
	"github.com/tidemark/tidemark/internal/test/boxtest"
)

// cluster is an office whose others are a cluster: as much of its interface as kubectl needs.
type cluster struct {
	*office
	as []string // what signed in, by request
}

const clusterHost = "k8s.acme.example"

func newCluster(t *testing.T) *cluster {
	t.Helper()
	boxtest.Needs(t, "kubectl")
	o := &cluster{office: &office{World: boxtest.New(t), t: t}}
	o.others(http.HandlerFunc(o.serve), clusterHost)
	o.settings(`{"token": "of-the-owner"}`, "")
	return o
}

// settings are the owner's, with one who signs in and more of the cluster.
func (o *cluster) settings(user, more string) {
	ca, err := os.ReadFile(o.ca)
	if err != nil {
		o.t.Fatal(err)
	}
	o.Put(filepath.Join(o.Home, ".kube/config"), `{"apiVersion": "v1", "kind": "Config", "current-context": "dev", "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "u", "namespace": "web"}}],
		"clusters": [{"name": "c", "cluster": {`+more+`"server": "https://`+clusterHost+`:6443", "certificate-authority-data": "`+base64.StdEncoding.EncodeToString(ca)+`"}}], "users": [{"name": "u", "user": `+user+`}]}`)
}

func (o *cluster) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	o.mu.Lock()
	o.seen = append(o.seen, r.Method+" "+r.Host+r.URL.Path)
	o.as = append(o.as, r.Header.Get("Authorization"))
	o.mu.Unlock()
	answer := func(code int, v map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(v)
	}
	resource := func(name, kind string) map[string]any {
		return map[string]any{"name": name, "singularName": strings.ToLower(kind), "namespaced": true, "kind": kind, "verbs": []string{"get", "list", "create", "patch", "delete"}}
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /api":
		answer(200, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
	case "GET /apis":
		answer(200, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{}})
	case "GET /api/v1":
		answer(200, map[string]any{"kind": "APIResourceList", "groupVersion": "v1", "resources": []any{resource("pods", "Pod"), resource("configmaps", "ConfigMap")}})
	case "GET /openapi/v3":
		answer(200, map[string]any{"paths": map[string]any{"api/v1": map[string]any{"serverRelativeURL": "/openapi/v3/api/v1"}}})
	case "GET /openapi/v3/api/v1":
		patch := map[string]any{"parameters": []any{map[string]any{"name": "fieldValidation", "in": "query"}}, "x-kubernetes-group-version-kind": map[string]any{"group": "", "version": "v1", "kind": "ConfigMap"}}
		answer(200, map[string]any{"openapi": "3.0.0", "paths": map[string]any{"/api/v1/namespaces/{namespace}/configmaps/{name}": map[string]any{"patch": patch}}})
	case "GET /api/v1/namespaces/web/pods":
		answer(200, map[string]any{"kind": "PodList", "apiVersion": "v1", "items": []any{map[string]any{"metadata": map[string]any{"name": "web-1", "namespace": "web"}}}})
	case "POST /api/v1/namespaces/web/configmaps":
		var made map[string]any
		_ = json.Unmarshal(body, &made)
		answer(201, made)
	default:
		answer(404, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": "there is none"})
	}
}

func (o *cluster) does(line string) (broker.Question, string) {
	o.t.Helper()
	d, err := o.prepare(line)
	if err != nil {
		o.t.Fatalf("%s: %v", line, err)
	}
	code, out, err := o.run(d)
	if code != 0 || err != nil {
		o.t.Fatalf("%s: %d %v\n%s\n%q", line, code, err, out, o.seen)
	}
	return d.Question, out
}

// BOX-02: kubectl asks the cluster of the owner's settings, as the owner, and nothing of a hostile workspace has a say.
func TestTheClusterOfTheOwner(t *testing.T) {
	o := newCluster(t)
	o.Put(filepath.Join(o.Work, "k/web.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: b}\n")
	o.broker() // opens the session's box while the workspace is harmless
	x := o.evil("x.sh")
	for _, name := range []string{"bin/kubectl", "bin/kubectl-get", "bin/plugin", "bin/sh"} {
		o.evil(name)
	}
	o.Put(filepath.Join(o.Work, ".kube/config"), `{"current-context": "e", "clusters": [{"name": "e", "cluster": {"server": "https://evil.example"}}]}`)
	o.Put(filepath.Join(o.Work, "kuberc"), "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\naliases:\n- name: get\n  command: delete\n")
	o.Env = append(o.Env, "KUBECONFIG="+o.Work+"/.kube/config", "KUBERC="+o.Work+"/kuberc", "KUBECTL_PLUGINS_PATH="+o.Work+"/bin", "KUBE_EDITOR="+x, "HTTPS_PROXY=http://evil.example:80", "ALL_PROXY=http://evil.example:80", "SSLKEYLOGFILE="+o.Work+"/keys")
	for i, e := range o.Env {
		if strings.HasPrefix(e, "PATH=") {
			o.Env[i] = "PATH=" + o.Work + "/bin:" + strings.TrimPrefix(e, "PATH=")
		}
	}
	o.want.Env = o.Env
	q, out := o.does("kubectl get pods -o name")
	if q.Verb != "look" || q.Host != clusterHost || q.Port != 6443 || q.Remote != "dev" || strings.TrimSpace(out) != "pod/web-1" {
		t.Errorf("%+v\n%s", q, out)
	}
	if q, out = o.does("kubectl apply -f k/web.yaml --context dev"); q.Verb != "submit" || len(q.Files) != 1 || !strings.Contains(out, "configmap/web created") {
		t.Errorf("%+v\n%s", q, out)
	}
	if d, err := o.prepare("kubectl apply -f k/web.yaml"); err != nil || !d.Ask {
		t.Errorf("what a file says by now is applied unasked: %v", err)
	}
	o.settings(`{"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", "echo {$A: {$B: \\\"of-the-plugin\\\"}}"], "env": [{"name": "A", "value": "\"status\""}, {"name": "B", "value": "\"token\""}]}}`, "")
	if _, out = o.does("kubectl get pods"); !strings.Contains(out, "web-1") {
		t.Error(out)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, as := range o.as {
		if as != "Bearer of-the-owner" && as != "Bearer of-the-plugin" || !strings.Contains(o.seen[i], " 127.0.0.1:6443/") && !strings.Contains(o.seen[i], clusterHost) {
			t.Errorf("%s as %q", o.seen[i], as)
		}
	}
	if as := o.as[len(o.as)-1]; as != "Bearer of-the-plugin" {
		t.Errorf("signed in with %s", as)
	}
	for _, n := range o.names {
		if n != clusterHost {
			t.Errorf("the name %s was asked outside", n)
		}
	}
}

// What would lead elsewhere, run what lies in the workspace, or believe anybody, is not done.
func TestWhatKubectlIsNotDoneFor(t *testing.T) {
	o := newCluster(t)
	o.Put(filepath.Join(o.Work, "web.yaml"), "x\n")
	o.Must("ln -s ~/.kube/config key.yaml")
	plugin := o.evil("plugin")
	for name, set := range map[string][2]string{
		"a program of the workspace":   {`{"exec": {"apiVersion": "v1", "command": "` + plugin + `"}}`, ""},
		"a program that is named only": {`{"exec": {"apiVersion": "v1", "command": "../plugin"}}`, ""},
		"a file of the workspace":      {`{"tokenFile": "` + o.Work + `/web.yaml"}`, ""},
		"in another's name":            {`{"token": "x", "as": "system:admin"}`, ""},
		"anybody is believed":          {`{"token": "x"}`, `"insecure-skip-tls-verify": true, `},
		"through somebody":             {`{"token": "x"}`, `"proxy-url": "http://evil.example", `},
	} {
		o.settings(set[0], set[1])
		if d, err := o.prepare("kubectl get pods"); !errors.Is(err, broker.ErrNotHere) {
			t.Errorf("%s: %v %+v", name, err, d)
		}
	}
	o.settings(`{"token": "x"}`, "")
	for _, line := range []string{"kubectl apply -f key.yaml", "kubectl apply -f none.yaml", "kubectl get pods --context other"} {
		if d, err := o.prepare(line); !errors.Is(err, broker.ErrNotHere) {
			t.Errorf("%s: %v %+v", line, err, d)
		}
	}
	if len(o.seen) > 0 {
		t.Errorf("asked: %q", o.seen)
	}
}
