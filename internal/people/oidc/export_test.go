package oidc

import "github.com/tidemark/tidemark/internal/base/strictjson"

// ReadKeys is how many usable keys a text lists.
func ReadKeys(raw []byte) (n int, err error) {
	var set keySet
	if err := strictjson.Unmarshal(raw, &set); err != nil {
		return 0, err
	}
	return len(set.read()), nil
}

// Verified reports whether a token counts with the keys of a text, for a nonce.
func (p *Provider) Verified(token string, keys []byte, nonce string) bool {
	var set keySet
	if strictjson.Unmarshal(keys, &set) != nil {
		return false
	}
	_, err := p.verify(token, set.read(), nonce)
	return err == nil
}
