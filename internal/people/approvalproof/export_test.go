package approvalproof

// Spend takes a nonce, as a proof does.
func Spend(k *Keeper, nonce string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.nonces.spend(nonce, k.now())
}
