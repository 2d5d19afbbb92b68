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

// Export writes the records that fit into a file that must not exist, or, without a name, to out.
func Export(
	ctx context.Context, log *Log, f *records.Filter, format, file string, out io.Writer, progress func(done, total int64),
) (n int64, err error) {
	if file == "" {
		return export.Write(ctx, log.Reader, f, format, out, progress)
	}
	to, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	n, err = export.Write(ctx, log.Reader, f, format, to, progress)
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return 0, errors.Join(err, os.Remove(file)) // half a file would look like a whole one
	}
	return n, nil
}
