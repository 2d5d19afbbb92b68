package endpoint

// Expand replaces references to the environment; wrong is how many of them are.
func Expand(text string, env func(string) (string, bool)) (out string, refs, wrong int) {
	out, refs, slips := expand(text, env)
	return out, refs, len(slips)
}
