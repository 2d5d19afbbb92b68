package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/internal/config"
)

func TestTheMCPSection(t *testing.T) {
	env := func(name string) (string, bool) {
		return map[string]string{"CRM_TOKEN": "t0ken"}[name], name == "CRM_TOKEN"
	}
	file := `
mcp:
  servers:
    crm: {url: "https://crm.example/mcp", auth: passthrough, headers: {Authorization: "Bearer ${CRM_TOKEN}"}}
    here: {url: "http://127.0.0.1:9/"}
  wait: 0s
  env: [API_KEY]
  require: none
`
	c, faults := config.Parse("f.yaml", []byte(file), env)
	if c == nil {
		t.Fatal(faults)
	}
	m := c.MCP
	if len(m.Servers) != 2 || m.Servers[0].Name != "crm" || m.Servers[0].Auth != "passthrough" ||
		string(m.Servers[0].Headers["Authorization"]) != "Bearer t0ken" || m.Require != "none" || m.Env[0] != "API_KEY" {
		t.Errorf("got %+v", m)
	}
	if m.Wait <= 0 || m.Wait > time.Millisecond || m.Elicit != "auto" || m.Sender != "owner" {
		t.Errorf("got %+v", m)
	}
	if c, _ := config.Parse("f.yaml", nil, env); c.MCP.Require != "token" || c.MCP.Wait != 10*time.Minute || len(c.MCP.Servers) != 0 {
		t.Errorf("without a word: %+v", c.MCP)
	}
}

func TestFaultsOfTheMCPSection(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"a name that could be read in two ways", "mcp: {servers: {a__b: {url: 'https://x.example'}}}", "cannot be the name"},
		{"no address", "mcp: {servers: {a: {auth: none}}}", "needs url"},
		{"an address that is not encrypted", "mcp: {servers: {a: {url: 'http://x.example'}}}", "not encrypted"},
		{"a variable that is not set", "mcp: {servers: {a: {url: 'https://x.example', headers: {K: '${NONE}'}}}}", "NONE is not set"},
		{"a header that is ours to set", "mcp: {servers: {a: {url: 'https://x.example', headers: {Host: y}}}}", "no header"},
		{"a word nobody knows", "mcp: {elicit: sometimes}", "elicit"},
		{"a key nobody knows", "mcp: {server: {}}", "server"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, faults := config.Parse("f.yaml", []byte(tt.file), func(string) (string, bool) { return "", false })
			if c != nil || faults.Err() == nil || !strings.Contains(faults.Err().Error(), tt.want) {
				t.Errorf("got %v, want a fault about %q", faults.Err(), tt.want)
			}
		})
	}
}
