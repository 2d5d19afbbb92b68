package broker

import "net/http"

// Lets reports whether the door of a command of docker's lets a request through.
func Lets(verb string, own []string, r *http.Request) bool {
	return (&shipping{verb: verb, own: own}).lets(r)
}
