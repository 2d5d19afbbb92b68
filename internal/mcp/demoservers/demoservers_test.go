package demoservers_test

import (
	"io"
	"testing"

	"github.com/tidemark/tidemark/internal/mcp/demoservers"
)

func TestASampleServerAnswersItsClient(t *testing.T) {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- demoservers.Serve("mail", fromClient, toClient) }()
	c, err := demoservers.Connect(fromServer, toServer)
	if err != nil {
		t.Fatal(err)
	}
	if text, failed, err := c.Call("send_mail", `{"to":"a@b.example"}`); err != nil || failed || text != "sent" {
		t.Errorf("got %q, %v, %v", text, failed, err)
	}
	if _, _, err := c.Call("nothing", `{}`); err == nil {
		t.Error("a tool that is not there answered")
	}
	if err := toServer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if demoservers.Serve("nobody", fromClient, toClient) == nil {
		t.Error("there is a server called nobody")
	}
}
