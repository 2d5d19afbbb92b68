package datafolder

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/afar"
)

// JoinedTo is the server elsewhere that the machine of this data folder has joined, and its token there; nil: none.
func JoinedTo(p Paths) (*afar.Server, string, error) {
	away, err := afar.Read(p.Data)
	if err != nil || away == nil {
		return nil, "", err
	}
	file := afar.TokenFile(p.Data)
	if err := CheckPrivate(file); err != nil {
		return nil, "", err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, "", fmt.Errorf("read token: %w", err)
	}
	return away, strings.TrimSpace(string(raw)), nil
}

// Elsewhere is JoinedTo as an address.
func Elsewhere(p Paths) (url, token string, err error) {
	away, token, err := JoinedTo(p)
	if err != nil || away == nil {
		return "", "", err
	}
	return strings.TrimRight(away.URL, "/"), token, nil
}

// ErrJoined is for what a machine does not do itself that has joined a server elsewhere.
func ErrJoined(away *afar.Server) error {
	return fmt.Errorf("this machine has joined the server at %s, as %s: what it does is decided, recorded and asked about there "+
		"(the console is at %s/console; to have a server here again: tidemark leave)",
		away.URL, away.Machine, strings.TrimRight(away.URL, "/"))
}

// JoinedElsewhere is ErrJoined, and nil for a machine that has joined none.
func JoinedElsewhere(away *afar.Server) error {
	if away == nil {
		return nil
	}
	return ErrJoined(away)
}

// Reach asks the server elsewhere whether it is there, and whether it knows this machine's token.
func Reach(ctx context.Context, away *afar.Server, token string) error {
	c := away.Client(token, 10*time.Second)
	defer c.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(away.URL, "/")+"/v1/machine", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered %d", res.StatusCode)
	}
	return nil
}
