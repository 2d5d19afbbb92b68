// Command tidemark-parquet makes a Parquet file of the lines that tidemark log export writes:
//
//	tidemark log export --kind call.decided | tidemark-parquet --out decisions.parquet
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/tidemark/tidemark/contrib/parquet/table"
)

func main() {
	out := flag.String("out", "", "file to write, which must not exist")
	flag.Parse()
	if err := run(*out, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "tidemark-parquet:", err)
		os.Exit(1)
	}
}

func run(file string, lines io.Reader) error {
	if file == "" || flag.NArg() > 0 {
		return errors.New("want --out FILE, and the lines of tidemark log export on standard input")
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	rows, err := table.Write(f, lines)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	_, err = fmt.Printf("wrote %d rows to %s\n", rows, file)
	return err
}
