package config

import (
	"github.com/tidemark/tidemark/internal/base/configfile"
	"github.com/tidemark/tidemark/internal/external/anchors"
)

// anchors reads where the head of the log is written down; nil: nowhere.
func (d *decoder) anchors(n *configfile.Node) *anchors.Options {
	if n == nil {
		return nil
	}
	return anchors.Read(d.reader(), n)
}
