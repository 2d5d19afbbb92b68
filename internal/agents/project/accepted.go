package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark/tidemark/internal/agents/settings"
	"github.com/tidemark/tidemark/internal/base/fileowner"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// Installed tells what installations of an agent wrote into a file. A record that cannot be read has written nothing: that is
// told elsewhere.
func Installed(data, agent string) func(path string) (parts []settings.Part, whole bool) {
	return func(path string) (parts []settings.Part, whole bool) {
		entries, err := os.ReadDir(filepath.Join(data, "installed"))
		if err != nil {
			return nil, false
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".json")
			if !ok || !settings.IsRecordName(name, agent) {
				continue
			}
			r, err := settings.ReadRecord(settings.RecordFile(data, name))
			if err != nil {
				continue
			}
			for _, f := range r.Files {
				if f.Path == path {
					parts, whole = append(parts, f.Parts...), whole || f.Own
				}
			}
		}
		return parts, whole
	}
}

// accepted is what a person has accepted, by sums: a setting that is changed is another one.
type accepted struct {
	Accepted []string `json:"accepted"`
}

// AcceptedFile is where it is kept.
func AcceptedFile(data string) string { return filepath.Join(data, "accepted.json") }

func readAccepted(data string) (accepted, error) {
	var a accepted
	name := AcceptedFile(data)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil && fileowner.Open(info, 0o022) {
		err = fmt.Errorf("%s can be changed by others", name)
	}
	if err != nil {
		return a, err
	}
	raw, err := os.ReadFile(name)
	if err == nil {
		err = strictjson.Unmarshal(raw, &a)
	}
	return a, err
}

// Open are the findings that nobody has accepted. Where that cannot be told, all are.
func Open(data string, found []Finding) []Finding {
	if len(found) == 0 {
		return nil
	}
	a, err := readAccepted(data)
	if err != nil {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return slices.Contains(a.Accepted, f.Sum) })
}

// Accept notes that a person accepts findings.
func Accept(data string, found []Finding) error {
	a, err := readAccepted(data)
	if err != nil {
		return fmt.Errorf("accept settings: %w", err)
	}
	for _, f := range found {
		if !slices.Contains(a.Accepted, f.Sum) {
			a.Accepted = append(a.Accepted, f.Sum)
		}
	}
	raw, err := strictjson.Marshal(a)
	if err != nil {
		return fmt.Errorf("accept settings: %w", err)
	}
	next := AcceptedFile(data) + ".new"
	if err := os.WriteFile(next, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("accept settings: %w", err)
	}
	if err := os.Rename(next, AcceptedFile(data)); err != nil {
		return fmt.Errorf("accept settings: %w", err)
	}
	return nil
}
