package repo

import (
	"encoding/hex"
	"strings"
)

// OID is the name of an object in lower-case hex: 40 digits in a SHA-1 repository, 64 in a SHA-256 one. "" is none.
type OID string

// Short gives the first seven digits, for people.
func (o OID) Short() string {
	if len(o) < 7 {
		return string(o)
	}
	return string(o[:7])
}

// rawOID makes an OID from bytes.
func rawOID(b []byte) OID { return OID(hex.EncodeToString(b)) }

func (o OID) raw() []byte {
	b, err := hex.DecodeString(string(o))
	if err != nil {
		panic("repo: malformed object name " + string(o))
	}
	return b
}

// isOID reports whether s has the form of a full object name.
func isOID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// Mode is the type and permission of a tree or index entry, as git writes it.
type Mode uint32

// The modes.
const (
	ModeNone    Mode = 0
	ModeTree    Mode = 0o040000
	ModeFile    Mode = 0o100644
	ModeExec    Mode = 0o100755
	ModeLink    Mode = 0o120000
	ModeGitlink Mode = 0o160000
)

// Blob is a mode and an object: what a tree has at a path. The zero Blob is "nothing".
type Blob struct {
	Mode Mode
	OID  OID
}
