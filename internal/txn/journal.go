package txn

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/repo"
)

// journal is what is needed to finish an operation or to take it back. It is on the disk before the first byte of the
// working tree, the index or a ref changes.
type journal struct {
	V       int              `json:"v"`
	ID      string           `json:"id"`                // of the operation; names its temporary files
	Command string           `json:"command"`           // for messages
	Files   []FileChange     `json:"files"`             // in the order in which they are made
	Log     string           `json:"log"`               // the log ref
	Begin   repo.OID         `json:"begin"`             // where the log ref was
	Pending repo.OID         `json:"pending"`           // where it is while the operation is under way
	Final   repo.OID         `json:"final"`             // where it is when the refs have moved; "" before that is known
	Refs    []repo.RefUpdate `json:"refs"`              // the transaction, without those that are only checked
	Checked []string         `json:"checked,omitempty"` // refs that the transaction locks without moving them
	Discard []string         `json:"discard,omitempty"` // ignored paths that go for good when the refs have moved
	Running string           `json:"running,omitempty"` // the command that is running: what it changes is not known yet
	Before  repo.Head        `json:"before"`
	After   repo.Head        `json:"after"`
	Message string           `json:"message"` // for reflogs
}

const journalVersion = 1

func journalFile(r *repo.Repo) string { return filepath.Join(r.Private, "journal") }

// writeJournal replaces the journal.
func writeJournal(r *repo.Repo, j *journal, fault Fault) error {
	if fault != nil {
		if err := fault("journal"); err != nil {
			return err
		}
	}
	j.V = journalVersion
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := writeSynced(journalFile(r), data); err != nil {
		return cannotWrite(err)
	}
	return nil
}

// writeSynced replaces a file as a whole: temporary file, sync, rename, sync of the directory.
func writeSynced(file string, data []byte) error {
	tmp := file + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp, file)
	}
	if err == nil {
		err = syncDir(filepath.Dir(file))
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// readJournal gives the journal of an operation that was not finished, or nil.
func readJournal(r *repo.Repo) (*journal, error) {
	data, err := os.ReadFile(journalFile(r))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cannotWrite(err)
	}
	var j journal
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, diag.Wrap(err, diag.Interrupted, "the journal of an interrupted operation cannot be read: %v", err).
			WithHint("it is %s; nothing is changed while it is there", journalFile(r))
	}
	if j.V != journalVersion {
		return nil, diag.New(diag.Interrupted, "an operation of another version of git clada was interrupted").
			WithHint("finish it with that version: git clada recover")
	}
	return &j, nil
}

func removeJournal(r *repo.Repo) error {
	if err := os.Remove(journalFile(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cannotWrite(err)
	}
	return nil
}
