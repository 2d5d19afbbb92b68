package datafolder

import (
	"errors"
	"os"
	"path/filepath"
)

// Absolute is a path in full; an empty one stays empty.
func Absolute(file string) string {
	if file == "" {
		return ""
	}
	if full, err := filepath.Abs(file); err == nil {
		return full
	}
	return file
}

// WriteNew writes a file that must not exist yet.
func WriteNew(file string, data []byte, mode os.FileMode) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// Replace puts a whole file in the place of another, or nothing.
func Replace(file string, data []byte, mode os.FileMode) error {
	tmp := file + ".new"
	if err := errors.Join(IgnoreMissing(os.Remove(tmp)), WriteNew(tmp, data, mode)); err != nil {
		return err
	}
	if err := os.Rename(tmp, file); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// IgnoreMissing is the error, unless it says that a file is not there.
func IgnoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
