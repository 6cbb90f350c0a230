package txn

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/repo"
)

// Op is one entry of the operation log: what it was, and the state before and after it. It is stored as op.json in the
// tree of a commit, whose parents keep alive what the states refer to.
type Op struct {
	V       int       `json:"v"`
	Kind    string    `json:"kind"` // apply, undo, redo, accept, discard
	Command string    `json:"command"`
	Time    time.Time `json:"time"`

	Batch   string   `json:"batch,omitempty"`
	Summary string   `json:"summary,omitempty"`
	Input   repo.OID `json:"input,omitempty"`
	Branch  string   `json:"branch,omitempty"`  // the scratch branch
	BaseRef string   `json:"baseRef,omitempty"` // the branch that the scratch branch started on; "" if HEAD was detached
	BaseOID repo.OID `json:"baseOid,omitempty"` // and its commit then
	Pre     repo.OID `json:"pre,omitempty"`
	Post    repo.OID `json:"post,omitempty"`
	Failed  int      `json:"failed,omitempty"`
	Tasks   int      `json:"tasks,omitempty"`

	Prev   repo.OID `json:"prev,omitempty"`   // the entry before, in time
	Cursor repo.OID `json:"cursor,omitempty"` // where the cursor was before
	Target repo.OID `json:"target,omitempty"` // of undo and redo: the operation taken back or brought back

	Before  State        `json:"before"`
	After   State        `json:"after"`
	Files   []FileChange `json:"files,omitempty"`
	LeftOut []string     `json:"leftOut,omitempty"`
	Trees   []repo.OID   `json:"trees,omitempty"` // of the working tree before and after each command
	NoOp    bool         `json:"noop,omitempty"`  // it changed nothing, so there is nothing to undo

	OID repo.OID `json:"-"`
}

const opVersion = 1

// Refs of the operation log of a working tree.
const (
	LogPrefix    = "refs/clada/log/"
	CursorPrefix = "refs/clada/cursor/"
)

// logID gives the id of this working tree's log. create makes one if there is none yet.
func logID(r *repo.Repo, create bool) (string, error) {
	file := filepath.Join(r.Private, "id")
	data, err := os.ReadFile(file)
	if err == nil {
		id := strings.TrimSpace(string(data))
		if _, err := hex.DecodeString(id); err == nil && len(id) == 16 {
			return id, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", cannotWrite(err)
	}
	if !create {
		return "", nil
	}
	raw := make([]byte, 8)
	rand.Read(raw)
	id := hex.EncodeToString(raw)
	tmp := file + ".tmp"
	if err := os.WriteFile(tmp, []byte(id+"\n"), 0o666); err != nil {
		return "", cannotWrite(err)
	}
	if err := os.Rename(tmp, file); err != nil {
		return "", cannotWrite(err)
	}
	return id, nil
}

// Log is the operation log of a working tree.
type Log struct {
	repo   *repo.Repo
	Ref    string   // "" if there is no log yet
	Tip    repo.OID // the newest entry
	Cursor repo.OID // the newest operation that is in force; "" if none
}

// OpenLog finds the log of a working tree.
func OpenLog(r *repo.Repo) (*Log, error) { return openLog(r, false) }

func openLog(r *repo.Repo, create bool) (*Log, error) {
	id, err := logID(r, create)
	if err != nil || id == "" {
		return &Log{repo: r}, err
	}
	l := &Log{repo: r, Ref: LogPrefix + id}
	if l.Tip, err = r.Ref(l.Ref); err != nil {
		return nil, err
	}
	l.Cursor, err = r.Ref(l.cursorRef())
	return l, err
}

func (l *Log) cursorRef() string { return CursorPrefix + strings.TrimPrefix(l.Ref, LogPrefix) }

// Entry reads an entry.
func (l *Log) Entry(oid repo.OID) (*Op, error) {
	_, data, err := l.repo.Objects.Read(string(oid)+":op.json", "blob")
	if err != nil {
		return nil, err
	}
	var op Op
	if err := json.Unmarshal(data, &op); err != nil || op.V != opVersion {
		return nil, diag.Wrap(err, diag.GitOperationFailed, "operation %s cannot be read", oid.Short()).
			WithHint("another version of git clada may have written it")
	}
	op.OID = oid
	return &op, nil
}

// Current gives the operation that undo would take back, or nil.
func (l *Log) Current() (*Op, error) {
	if l.Cursor == "" {
		return nil, nil
	}
	return l.Entry(l.Cursor)
}

// Walk calls visit for each entry from the newest to the oldest, until it gives false.
func (l *Log) Walk(visit func(*Op) bool) error {
	return l.walk(l.Tip, func(o *Op) repo.OID { return o.Prev }, visit)
}

// Chain calls visit for the operations that are in force, from the newest to the oldest, until it gives false.
func (l *Log) Chain(visit func(*Op) bool) error {
	return l.walk(l.Cursor, func(o *Op) repo.OID { return o.Cursor }, visit)
}

func (l *Log) walk(at repo.OID, next func(*Op) repo.OID, visit func(*Op) bool) error {
	for at != "" {
		op, err := l.Entry(at)
		if err != nil {
			return err
		}
		if !visit(op) {
			return nil
		}
		at = next(op)
	}
	return nil
}

// Redoable gives the operation that redo would bring back, or nil: the last one taken back with nothing done since.
func (l *Log) Redoable() (*Op, error) {
	var target repo.OID
	depth := 0
	err := l.Walk(func(op *Op) bool {
		switch {
		case op.Kind == "redo":
			depth++
		case op.Kind == "undo" && depth > 0:
			depth--
		case op.Kind == "undo":
			target = op.Target
			return false
		case op.NoOp:
		default:
			return false
		}
		return true
	})
	if err != nil || target == "" {
		return nil, err
	}
	return l.Entry(target)
}

// writeOp stores an entry. Its tree also holds the trees of both states and the blobs of keep, so that git keeps what
// an undo needs for as long as the log lasts.
func writeOp(r *repo.Repo, op *Op, parents []repo.OID, keep []repo.OID, who, subject string) (repo.OID, error) {
	op.V = opVersion
	data, err := json.MarshalIndent(op, "", " ")
	if err != nil {
		return "", err
	}
	blob, err := r.Objects.WriteBlob(data)
	if err != nil {
		return "", err
	}
	changes := map[string]repo.Blob{"op.json": {Mode: repo.ModeFile, OID: blob}}
	for name, tree := range map[string]repo.OID{
		"before-index": op.Before.Index, "before-worktree": op.Before.WorkTree,
		"after-index": op.After.Index, "after-worktree": op.After.WorkTree,
	} {
		if tree != "" {
			changes[name] = repo.Blob{Mode: repo.ModeTree, OID: tree}
		}
	}
	for _, tree := range op.Trees {
		changes["trees/"+string(tree)] = repo.Blob{Mode: repo.ModeTree, OID: tree}
	}
	for _, oid := range keep {
		if oid != "" {
			changes["keep/"+string(oid)] = repo.Blob{Mode: repo.ModeFile, OID: oid}
		}
	}
	tree, err := r.Objects.Overlay("", changes)
	if err != nil {
		return "", err
	}
	return r.Objects.WriteCommit(repo.Commit{
		Tree: tree, Parents: distinct(parents), Author: who, Committer: who, When: op.Time, Message: subject + "\n",
	})
}

func distinct(oids []repo.OID) []repo.OID {
	var kept []repo.OID
	seen := map[repo.OID]bool{"": true}
	for _, o := range oids {
		if !seen[o] {
			seen[o] = true
			kept = append(kept, o)
		}
	}
	return kept
}

// ShortBranch gives the scratch branch without refs/heads/.
func (o *Op) ShortBranch() string { return short(o.Branch) }

// Base gives what the scratch branch started on, for people.
func (o *Op) Base() string { return baseName(o.BaseRef, o.BaseOID) }
