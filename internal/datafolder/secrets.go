package datafolder

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark/tidemark/internal/base/afar"
)

// SecretsVariable names a folder with what all servers of one log have alike: words.key and tokens.json, and tls.pem, the key by which
// other machines know them, where there is one. Where servers are started by a
// machine, each with a data folder of its own, it is mounted there, read-only.
const SecretsVariable = "TIDEMARK_SECRETS"

// tlsName is what the key for other machines is called there.
const tlsName = "tls.pem"

// TakeSecrets copies what servers share into the data folder; tokens that were changed there count. Without a folder nothing is done.
func TakeSecrets(folder string, p Paths) error {
	if folder == "" {
		return nil
	}
	for name, to := range map[string]string{"words.key": p.Key(), "tokens.json": p.Tokens(), tlsName: afar.KeyFile(p.Data)} {
		raw, err := os.ReadFile(filepath.Join(folder, name)) //nolint:gosec // a folder that the operator named
		if name == tlsName && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read what servers share (%s=%s): %w", SecretsVariable, folder, err)
		}
		switch known, err := os.ReadFile(to); {
		case err == nil && bytes.Equal(known, raw):
			continue
		case err == nil && to == p.Key():
			return fmt.Errorf("%s is another key than %s: what this log keeps under the one is lost under the other; "+
				"give the server the key it had, or another data folder", filepath.Join(folder, name), to)
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("read %s: %w", to, err)
		}
		if err := replaceFile(to, raw); err != nil {
			return fmt.Errorf("copy what servers share: %w", err)
		}
	}
	return nil
}

// replaceFile writes a file that only its owner reads, whole or not at all.
func replaceFile(path string, text []byte) error {
	next := path + ".new"
	if err := os.WriteFile(next, text, 0o600); err != nil { //nolint:gosec // of our own folder
		return err
	}
	return os.Rename(next, path)
}
