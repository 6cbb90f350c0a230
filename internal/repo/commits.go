package repo

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Commit is a commit as we write and read it.
type Commit struct {
	Tree      OID
	Parents   []OID
	Author    string // NAME <EMAIL>
	Committer string
	When      time.Time // of the committer; written for both
	Message   string
}

// Commit reads a commit. The name may be any revision.
func (s *Store) Commit(name string) (OID, Commit, error) {
	oid, data, err := s.Read(name, "commit")
	if err != nil {
		return "", Commit{}, err
	}
	var c object.Commit
	if err := decode(plumbing.CommitObject, oid, data, &c); err != nil {
		return "", Commit{}, err
	}
	out := Commit{
		Tree: OID(c.TreeHash.String()), Message: c.Message, When: c.Committer.When,
		Author: c.Author.Name + " <" + c.Author.Email + ">", Committer: c.Committer.Name + " <" + c.Committer.Email + ">",
	}
	for _, p := range c.ParentHashes {
		out.Parents = append(out.Parents, OID(p.String()))
	}
	return oid, out, nil
}

// WriteCommit stores a commit. Internal commits are never signed.
func (s *Store) WriteCommit(c Commit) (OID, error) {
	author, committer := signature(c.Author, c.When), signature(c.Committer, c.When)
	oc := object.Commit{
		TreeHash: plumbing.NewHash(string(c.Tree)), Author: author, Committer: committer, Message: c.Message,
	}
	for _, p := range c.Parents {
		oc.ParentHashes = append(oc.ParentHashes, plumbing.NewHash(string(p)))
	}
	data, err := encode(&oc)
	if err != nil {
		return "", err
	}
	return s.write("commit", data)
}

func signature(ident string, when time.Time) object.Signature {
	name, rest, _ := strings.Cut(ident, " <")
	return object.Signature{Name: strings.TrimSpace(name), Email: strings.TrimSuffix(rest, ">"), When: when}
}

// Subject gives the first line of a message.
func Subject(message string) string {
	line, _, _ := bytes.Cut([]byte(message), []byte("\n"))
	return string(line)
}
