package box

// Way is who carries what leaves a box. Nothing leaves but by it: the box has no other network than its own loopback. It opens its
// doors in the box's network before the first command runs, and is outside itself.
type Way interface {
	Open(*Network) error
	Close() error
}

// Where a Way is looked for in the box: the resolver's address is in the box's resolv.conf, the proxy's in variables (environment.txt).
const (
	NameServer = "127.0.0.1:53"
	Proxy      = "127.66.0.1:80"
)

// resolvConf is all that programs in the box read of how names are found.
const resolvConf = "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n"
