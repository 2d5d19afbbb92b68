package oauth

import "net/http"

// AskBy sets how servers themselves are asked, for names that lead nowhere.
func (k *Keeper) AskBy(rt http.RoundTripper) { k.base = rt }
