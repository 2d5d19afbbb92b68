package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tidemark/tidemark/internal/reports/export"
	"github.com/tidemark/tidemark/internal/reports/records"
)

// ExportFormats are how records can be exported.
func ExportFormats() []string { return export.Formats() }

// ExportTo is where and how records are written.
type ExportTo struct {
	Format   string
	File     string // which must not exist; "": Out
	Out      io.Writer
	Progress func(done, total int64)
}

// Export writes the records that fit.
func Export(ctx context.Context, log *Log, f *records.Filter, to ExportTo) (n int64, err error) {
	if to.File == "" {
		return export.Write(ctx, log.Reader, f, to.Format, to.Out, to.Progress)
	}
	file, err := os.OpenFile(to.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	n, err = export.Write(ctx, log.Reader, f, to.Format, file, to.Progress)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return 0, errors.Join(err, os.Remove(to.File)) // half a file would look like a whole one
	}
	return n, nil
}
