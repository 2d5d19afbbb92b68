package relay

import (
	"errors"
	"net"
)

// nothing is a network in which nothing can be opened.
type nothing struct{}

func (nothing) Listen(string) (net.Listener, error)         { return nil, errors.New("nothing") }
func (nothing) ListenPacket(string) (net.PacketConn, error) { return nil, errors.New("nothing") }
func (nothing) Program(string) string                       { return "" }
func (nothing) Tell(string)                                 {}
