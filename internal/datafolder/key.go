package datafolder

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// keySize is how many bytes the key of the hashes in the log has.
const keySize = 32

// LoadKey reads the key under which the log keeps hashes of secrets that the user said, or
// makes one at the first start. It stands beside the log and not in it: a copy of the log
// alone gives nobody a password to try.
func LoadKey(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return makeKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	if err := CheckPrivate(path); err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(raw)))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("read key: %s is not %d bytes in hexadecimal (delete the file to make a new one: "+
			"secrets said before are then asked about once more)", path, keySize)
	}
	return key, nil
}

func makeKey(path string) ([]byte, error) {
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return LoadKey(path) // another server was started at the same time
	}
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	_, err = f.WriteString(hex.EncodeToString(key) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("make key: %w", err), os.Remove(path))
	}
	return key, nil
}

// Derive makes a value that only whoever has the key can make, and that tells nothing of the key.
func Derive(key []byte, what string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(what)) // a hash never fails
	return h.Sum(nil)
}

// KeyOf is the key of a data folder; nil where it has none.
func KeyOf(p Paths) ([]byte, error) {
	if _, err := os.Stat(p.Key()); errors.Is(err, fs.ErrNotExist) { // LoadKey would make one
		return nil, nil
	}
	return LoadKey(p.Key())
}
