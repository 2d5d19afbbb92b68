package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/tidemark/tidemark/internal/draw"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file the pages load, under a name that changes with what is in it.
type asset struct {
	contentType   string
	plain, packed []byte
}

type assets struct {
	byName map[string]asset  // with its hash
	named  map[string]string // address by plain name
	worker []byte            // under a name of its own
}

var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
}

func loadAssets() (assets, error) {
	a := assets{byName: map[string]asset{}, named: map[string]string{}}
	files, err := assetFiles.ReadDir("assets")
	if err != nil {
		return a, fmt.Errorf("read assets: %w", err)
	}
	for _, f := range files {
		raw, err := assetFiles.ReadFile("assets/" + f.Name())
		if err != nil {
			return a, fmt.Errorf("read assets: %w", err)
		}
		if f.Name() == "worker.js" {
			a.worker = raw
			continue
		}
		if f.Name() == "console.css" {
			raw = append(raw, draw.PageStyle()...)
		}
		if err := a.put(f.Name(), raw); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (a *assets) put(name string, raw []byte) error {
	ext := path.Ext(name)
	kind, ok := contentTypes[ext]
	if !ok {
		return fmt.Errorf("asset %s: of no known type", name)
	}
	sum := sha256.Sum256(raw)
	hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("pack asset: %w", err)
	}
	if _, err := z.Write(raw); err != nil {
		return fmt.Errorf("pack asset: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("pack asset: %w", err)
	}
	a.byName[hashed] = asset{kind, raw, packed.Bytes()}
	a.named[name] = Path + "/a/" + hashed
	return nil
}

// asset needs no session: there is nothing in it that is anybody's.
func (c *Console) asset(w http.ResponseWriter, r *http.Request) {
	f, ok := c.assets.byName[r.PathValue("name")]
	if !ok {
		c.fail(w, r, http.StatusNotFound, "There is no such file.")
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.packed
	}
	_, _ = w.Write(body) // a browser that is gone cannot be told
}
