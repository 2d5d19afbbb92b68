//go:build !linux

package keeper

import (
	"context"
	"errors"
	"runtime"

	"github.com/tidemark/tidemark/internal/box/entry"
)

// ErrTaken says that another keeper has the data folder.
var ErrTaken = errors.New("another box keeper has this data folder")

// Keeper is what there is none of on this system.
type Keeper struct{}

// New refuses: there are no boxes to keep.
func New(Options) (*Keeper, error) {
	return nil, errors.New("there are no boxes on " + runtime.GOOS + " yet")
}

// Serve has nothing to do.
func (*Keeper) Serve(context.Context) error { return nil }

// AsideIn is nothing.
func AsideIn(string) []Aside { return nil }

// Take has nothing to put back.
func (a *Aside) Take() error { return errors.New("there are no boxes on " + runtime.GOOS + " yet") }

// Drop has nothing to throw away.
func (a *Aside) Drop() error { return errors.New("there are no boxes on " + runtime.GOOS + " yet") }

// LeftIn is nothing.
func LeftIn(string) []entry.Left { return []entry.Left{} }
