package app

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// bodyLimit is how long a client may take to send the body of a request, whoever it is: one that sends a byte now and then would
// hold a connection for good, and needs no token for it. Doors that take large bodies give more time, piece by piece.
const bodyLimit = time.Minute

// paced cuts connections whose body does not come.
func paced(next http.Handler, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
			control := http.NewResponseController(w)
			if control.SetReadDeadline(time.Now().Add(limit)) == nil {
				body := &pacedBody{r.Body, control}
				// Who waits to be told to send gets an answer that needs no body at once: for that net/http looks at its own request.
				if r.Header.Get("Expect") != "" {
					r = r.WithContext(r.Context())
				}
				r.Body = body
			}
		}
		next.ServeHTTP(w, r)
	})
}

// pacedBody takes the deadline away when the body has come: the connection is watched for the client leaving, which may be long.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *pacedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{}) // it could be set
	}
	return n, err
}
