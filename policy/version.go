package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/base/configfile"
)

// version hashes the shipped tables and the tree, without the keys other packages
// read, without comments and with the keys of maps in order.
func version(root *configfile.Node) string {
	h := sha256.New()
	fmt.Fprintln(h, shippedOutputs, shippedSafe, presets, shippedCommandTools, shippedMail, shippedForge, shippedWeb, shippedActions,
		shippedMemory, shippedWriters, shippedCautioned, shippedUncautioned)
	preset := presets[0].name
	if n := root.Get("preset"); n != nil {
		preset = n.Text
	}
	src, _ := presetFiles.ReadFile("presets/" + preset + ".yaml") // none: a preset of modes alone
	h.Write(src)
	keys := slices.DeleteFunc(slices.Clone(root.Keys), func(k configfile.Key) bool { return slices.Contains(Reserved(), k.Name) })
	writeKeys(h, keys)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func writeKeys(h hash.Hash, keys []configfile.Key) {
	keys = slices.SortedFunc(slices.Values(keys), func(a, b configfile.Key) int { return strings.Compare(a.Name, b.Name) })
	fmt.Fprintf(h, "{%d", len(keys))
	for _, k := range keys {
		fmt.Fprintf(h, "%q", k.Name)
		writeNode(h, k.Value)
	}
}

func writeNode(h hash.Hash, n *configfile.Node) {
	switch n.Kind {
	case configfile.Map:
		writeKeys(h, n.Keys)
	case configfile.List:
		fmt.Fprintf(h, "[%d", len(n.List))
		for _, item := range n.List {
			writeNode(h, item)
		}
	case configfile.Int:
		fmt.Fprintf(h, "i%d", n.Int)
	default:
		fmt.Fprintf(h, "%d%q", n.Kind, n.Text)
	}
}
