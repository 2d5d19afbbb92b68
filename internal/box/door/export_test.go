package door

import "net/http"

// Proxied is what answers in place of a proxy.
func Proxied(d *Door) http.Handler { return http.HandlerFunc(d.noProxy) }
