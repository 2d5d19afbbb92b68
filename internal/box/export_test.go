package box

var (
	PlainConfig       = func(text string) bool { return plainConfig(text, nil) }
	ChooseEnvironment = chooseEnvironment
)

// Blocks are all blocks of the data, by file and name.
func Blocks() map[string][]string {
	out := map[string][]string{}
	for file, l := range map[string]lists{"places": places, "git": gitSettings, "environment": environment} {
		for name, words := range l {
			out[file+" "+name] = words
		}
	}
	return out
}
