package box

import (
	"os"
	"strings"
)

// listeningBelow are the sockets below a folder that processes of this machine have made, as the kernel lists them: also those in
// folders that are too large to look through. A name that was not whole when it was made is not among them.
func listeningBelow(dir string) []string {
	text, _ := os.ReadFile("/proc/net/unix")
	var out []string
	for line := range strings.Lines(string(text)) {
		if at := strings.Index(line, " /"); at > 0 {
			if path := strings.TrimSuffix(line[at+1:], "\n"); strings.HasPrefix(path, dir+"/") {
				out = append(out, path)
			}
		}
	}
	return out
}
