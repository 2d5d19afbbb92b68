package broker

import "syscall"

// terminate is the signal that ends a program whose caller has gone.
const terminate = syscall.SIGTERM
