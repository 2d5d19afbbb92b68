package keeper

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/tidemark/tidemark/internal/base/strictjson"
	"github.com/tidemark/tidemark/internal/box/broker"
)

// isList reports whether a file of a repository is a list of packages that can be fetched by it.
func isList(name string) bool {
	base := path.Base(filepath.ToSlash(name))
	return path.Ext(base) == ".txt" || broker.IsLock(base)
}

// first is what the repository of a workspace held when a session's first box was made there.
type first struct {
	Session string            `json:"session"`
	At      time.Time         `json:"at"`
	Lists   map[string]string `json:"lists"`
}

// pinsKept is for how long that is remembered.
const pinsKept = 14 * 24 * time.Hour

// mostFirsts bounds how many sessions of a workspace are remembered; with more, nothing is pinned.
const mostFirsts = 500

// pinned are the lists that are now as they were when each session's first box was made here, of all that are remembered: what one of
// them may have written is none of the next one's. now is what the repository has. Where it cannot be kept nothing is pinned.
func pinned(folder, session, workspace string, now map[string]string) broker.Pins {
	sum := sha256.Sum256([]byte(workspace))
	file := filepath.Join(folder, hex.EncodeToString(sum[:8])+".json")
	var all []first
	raw, err := os.ReadFile(file)
	if err == nil {
		err = strictjson.Unmarshal(raw, &all)
	}
	if err != nil && !os.IsNotExist(err) {
		return nil
	}
	kept, known := make([]first, 0, len(all)+1), false
	for _, f := range all {
		if time.Since(f.At) < pinsKept {
			kept, known = append(kept, f), known || f.Session == session
		}
	}
	if !known {
		kept = append(kept, first{session, time.Now().UTC(), now})
	}
	if raw, err = strictjson.Marshal(kept); err == nil && (!known || len(kept) != len(all)) {
		half := file + ".half"
		if err = os.MkdirAll(folder, 0o700); err == nil {
			err = os.WriteFile(half, raw, 0o600)
		}
		if err == nil {
			err = os.Rename(half, file)
		}
	}
	if err != nil || len(kept) > mostFirsts {
		return nil
	}
	out := broker.Pins{}
	for name, blob := range kept[0].Lists {
		same := true
		for _, f := range kept[1:] {
			same = same && f.Lists[name] == blob
		}
		if same {
			out[name] = blob
		}
	}
	return out
}
