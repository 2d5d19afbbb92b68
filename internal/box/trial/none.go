//go:build !linux

package trial

import "github.com/tidemark/tidemark/internal/box"

// Become returns: there is no box to try from inside.
func Become() {}

// Run says that there are no boxes here.
func Run(Around) ([]Row, error) {
	_, err := box.Open(box.Want{})
	return []Row{lacking(err)}, nil
}
