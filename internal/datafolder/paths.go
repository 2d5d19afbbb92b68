// Package datafolder is the data folder of one installation: which files are in it and whose they may be, the keys and secrets among
// them, which server holds it, and where a machine finds its server if that is elsewhere.
package datafolder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidemark/tidemark/internal/base/peer"
)

// PolicyName is the policy file of a data folder.
const PolicyName = "tidemark.yaml"

// Paths are the files of one installation. Everything lives in the data folder.
type Paths struct {
	Data   string // folder, 0700
	Config string // policy file; "" when there is none
	Store  string // address of the database with the log; "": a file in the data folder
}

// Find resolves the policy file of a data folder. An explicit policy file must
// exist; the one in the data folder is used when it does. The working directory is not
// searched: an agent may be able to write there.
func Find(data, config string) (Paths, error) {
	p := Paths{Data: data, Config: config}
	if config != "" {
		return p, nil
	}
	inData := filepath.Join(data, PolicyName)
	if _, err := os.Stat(inData); err == nil {
		p.Config = inData
	} else if !errors.Is(err, os.ErrNotExist) {
		return Paths{}, fmt.Errorf("look for policy: %w", err)
	}
	return p, nil
}

// DB is the log's database file.
func (p Paths) DB() string { return filepath.Join(p.Data, "tidemark.db") }

// Tokens is the file of the bearer tokens.
func (p Paths) Tokens() string { return filepath.Join(p.Data, "tokens.json") }

// People is the file of those who have a token of their own.
func (p Paths) People() string { return filepath.Join(p.Data, "people.json") }

// Push is the file of the browsers that are told of questions, and of the key by which their services know us.
func (p Paths) Push() string { return filepath.Join(p.Data, "push.json") }

// Key is the file of the key for hashes in the log.
func (p Paths) Key() string { return filepath.Join(p.Data, "words.key") }

// Written is the file of what models and tools wrote, in hashes, for the LLM proxy.
func (p Paths) Written() string { return filepath.Join(p.Data, "written.bin") }

// Checkpoints is the folder of conversations that are not in memory.
func (p Paths) Checkpoints() string { return filepath.Join(p.Data, "checkpoints") }

// Counts is the file of what reports are made from.
func (p Paths) Counts() string { return filepath.Join(p.Data, "report.counts") }

// Readings is the file of what a model read in definitions of tools.
func (p Paths) Readings() string { return filepath.Join(p.Data, "definitions.jsonl") }

// Answers is the file of what a model answered on the last day, for the next start.
func (p Paths) Answers() string { return filepath.Join(p.Data, "answers.jsonl") }

// Programs is the file of which programs were tried as models.
func (p Paths) Programs() string { return filepath.Join(p.Data, "programs.json") }

// ReaderFolder is where programs that answer have their folders, each for one prompt.
func (p Paths) ReaderFolder() string { return filepath.Join(p.Data, "reader") }

// ReadingPrograms are the programs that read, so that a server knows their hooks.
func (p Paths) ReadingPrograms() peer.Children {
	return peer.Children{Folder: filepath.Join(p.Data, "readers")}
}

// Lent says when models were asked that are not ours: how often they may be is counted over restarts. It holds no words and no answers.
func (p Paths) Lent() string { return filepath.Join(p.Data, "lent.jsonl") }

// Server is the file in which a running server says where it listens.
func (p Paths) Server() string { return filepath.Join(p.Data, "server.json") }

// Create makes the data folder, private to its owner.
func (p Paths) Create() error {
	if err := os.MkdirAll(p.Data, 0o700); err != nil {
		return fmt.Errorf("create data folder: %w", err)
	}
	return nil
}

// Spellings are a path as it was given, in full, and where its links lead.
func Spellings(path string) []string {
	if path == "" {
		return nil
	}
	out := []string{path}
	if full, err := filepath.Abs(path); err == nil {
		out = append(out, full)
	}
	if real, err := filepath.EvalSymlinks(out[len(out)-1]); err == nil {
		out = append(out, real)
	}
	return slices.Compact(out)
}

// Started is where a server says that a program started it: init, or a hook. One that a person or the system started says nothing.
func (p Paths) Started() string { return filepath.Join(p.Data, "started.json") }

// Cost is the folder of what models cost; see plugins/cost.
func (p Paths) Cost() string { return filepath.Join(p.Data, "cost") }

// Compliance is the folder of the compliance record; see plugins/compliance.
func (p Paths) Compliance() string { return filepath.Join(p.Data, "compliance") }

// Again looks for the policy file once more: one may have come since.
func (p Paths) Again() (Paths, error) {
	now, err := Find(p.Data, p.Config)
	now.Store = p.Store
	return now, err
}

// CheckLog is an error where the folder has no log.
func (p Paths) CheckLog() error {
	if p.Store != "" {
		return nil // opening it says so
	}
	if _, err := os.Stat(p.DB()); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("open log: there is none in %s (start the server once, or give --data)", p.Data)
	}
	return nil
}
