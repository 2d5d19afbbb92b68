package webpush

// SealWith is seal with everything that is drawn handed in.
var SealWith = sealWith

// Place is place, for the table of addresses.
func Place(endpoint string, named ...string) (own bool, err error) {
	_, own, err = place(endpoint, named)
	return own, err
}
