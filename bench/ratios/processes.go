package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"github.com/tidemark/tidemark/bench/rig"
)

// bareFlag makes this program the reverse proxy before the upstream that follows.
const bareFlag = "-bare-proxy"

// serveBare is the other proxy: it understands nothing. It ends when its input does.
func serveBare(upstream string) error {
	target, err := url.Parse(upstream)
	if err != nil {
		return err
	}
	bare := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, "/openai")
	}}
	address, server, err := rig.Listen(context.Background(), bare)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": address}); err != nil {
		return err
	}
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return server.Close()
}

func startBare(ctx context.Context, upstream string) (*rig.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return rig.Start(exec.CommandContext(ctx, self, bareFlag, upstream))
}
