package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-clada/git-clada/internal/diag"
)

// ApprovalsFile holds the commands that people approved, relative to the top of the working tree. It is versioned with
// the project. By itself it approves nothing: see Approvals.Trusted.
const ApprovalsFile = ".clada/allowed-commands.json"

// trustFile is what a person has trusted here, in our directory of the shared git directory.
const trustFile = "trusted-commands.json"

// Approvals are the commands that run here because a person wants it. A Trust is the SHA-256 of the whole file, so a
// pull or another program that changes the file approves nothing until a person has looked at what is new.
type Approvals struct {
	Commands []string          // of the file, in its order
	Added    map[string]string // when each was added, RFC 3339
	Blocked  []string          // of the file; a command that is blocked is not approved
	Trusted  bool              // a person trusts the present content in this clone
	New      []string          // approved by the file and never trusted here
	Once     []string          // approved by a person for this batch

	file, trust string
	sum         string
	entries     []trusted
}

// trusted is a content of the file that a person trusted.
type trusted struct {
	Sum      string   `json:"sha256"`
	Commands []string `json:"commands"`
	Time     string   `json:"time"`
}

// document is the file. The shape is that of the tools before us.
type document struct {
	Commands []string          `json:"commands"`
	Added    map[string]string `json:"added,omitempty"`
	Blocked  []string          `json:"blocked,omitempty"`
}

// OpenApprovals reads the file of the working tree at top, and what is trusted according to private, our directory of
// the shared git directory; "" trusts nothing. Links are not followed.
func OpenApprovals(top, private string) (*Approvals, error) {
	a := &Approvals{file: filepath.Join(top, ApprovalsFile)}
	if private != "" {
		a.trust = filepath.Join(private, trustFile)
		text, err := os.ReadFile(a.trust)
		if err == nil {
			err = json.Unmarshal(text, &a.entries)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, diag.Wrap(err, diag.PermissionDenied, "reading which commands are trusted here: %v", err).
				WithHint("remove %s and trust them anew: git clada allow trust", a.trust)
		}
	}
	text, err := readPlain(top, ApprovalsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return nil, diag.Wrap(err, diag.PermissionDenied, "reading %s: %v", ApprovalsFile, err).In(ApprovalsFile)
	}
	return a, a.read(text)
}

// readPlain reads a file below top without following any link below it.
func readPlain(top, name string) ([]byte, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for part := filepath.Dir(name); part != "."; part = filepath.Dir(part) {
		if info, err := root.Lstat(part); err != nil || !info.IsDir() {
			return nil, errors.Join(err, noDirectory(part, err))
		}
	}
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no plain file", name)
	}
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("it is larger than %d bytes", most)
	}
	return text, err
}

func noDirectory(name string, err error) error {
	if err != nil {
		return nil
	}
	return fmt.Errorf("%s is no plain directory", name)
}

func (a *Approvals) read(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var doc document
	if err := d.Decode(&doc); err != nil {
		return diag.Wrap(err, diag.InvalidArgument, "%s cannot be read: %v", ApprovalsFile, err).In(ApprovalsFile).
			WithHint(`its form is {"commands":["npm test"],"added":{"npm test":"2024-01-20T10:30:00Z"}}`)
	}
	a.Commands, a.Added, a.Blocked = doc.Commands, doc.Added, doc.Blocked
	sum := sha256.Sum256(text)
	a.sum = hex.EncodeToString(sum[:])
	var known []string
	for _, e := range a.entries {
		a.Trusted = a.Trusted || e.Sum == a.sum
		known = append(known, e.Commands...)
	}
	if a.Trusted {
		return nil
	}
	for _, c := range a.effective() {
		if !slices.Contains(known, c) {
			a.New = append(a.New, c)
		}
	}
	// A file that only lost entries approves nothing that a person has not trusted here already.
	a.Trusted = len(a.New) == 0 && len(a.entries) > 0
	return nil
}

// effective gives the commands that the file approves.
func (a *Approvals) effective() []string {
	return slices.DeleteFunc(slices.Clone(a.Commands), func(c string) bool { return slices.Contains(a.Blocked, c) })
}

// Approves reports whether a person approved a text, byte for byte.
func (a *Approvals) Approves(text string) bool {
	if a.Blocks(text) {
		return false
	}
	return slices.Contains(a.Once, text) || a.Trusted && slices.Contains(a.Commands, text)
}

// Blocks reports whether the file blocks a text. That needs no trust.
func (a *Approvals) Blocks(text string) bool { return slices.Contains(a.Blocked, text) }

// Add approves a text for good: it is written to the file, and the file is trusted.
func (a *Approvals) Add(text string, now time.Time) error {
	if len(a.New) > 0 {
		return diag.New(diag.CommandNotAllowed, "%s holds commands that nobody has trusted here", ApprovalsFile).In(ApprovalsFile).
			WithHint("look at them first: git clada allow trust, or git clada allow remove")
	}
	if !slices.Contains(a.Commands, text) {
		a.Commands = append(a.Commands, text)
	}
	if a.Added == nil {
		a.Added = map[string]string{}
	}
	a.Added[text] = now.UTC().Format(time.RFC3339)
	a.Blocked = slices.DeleteFunc(a.Blocked, func(b string) bool { return b == text })
	return a.save(now)
}

// Remove takes an approval back, and a block too. It reports whether there was one.
func (a *Approvals) Remove(text string, now time.Time) (bool, error) {
	if !slices.Contains(a.Commands, text) && !slices.Contains(a.Blocked, text) {
		return false, nil
	}
	same := func(c string) bool { return c == text }
	a.Commands, a.Blocked = slices.DeleteFunc(a.Commands, same), slices.DeleteFunc(a.Blocked, same)
	delete(a.Added, text)
	a.forget(text)
	return true, a.save(now)
}

// Deny blocks a text: it is not run, whoever approves it.
func (a *Approvals) Deny(text string, now time.Time) error {
	a.Commands = slices.DeleteFunc(a.Commands, func(c string) bool { return c == text })
	delete(a.Added, text)
	a.forget(text)
	if !slices.Contains(a.Blocked, text) {
		a.Blocked = append(a.Blocked, text)
	}
	return a.save(now)
}

// save writes the file and trusts it, unless it holds what nobody has looked at.
func (a *Approvals) save(now time.Time) error {
	text, err := json.MarshalIndent(document{nonNil(a.Commands), a.Added, a.Blocked}, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if err := a.write(text); err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	a.sum = hex.EncodeToString(sum[:])
	effective := a.effective()
	a.New = slices.DeleteFunc(a.New, func(c string) bool { return !slices.Contains(effective, c) })
	if a.Trusted = len(a.New) == 0; !a.Trusted {
		return a.remember()
	}
	return a.Trust(now)
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// Trust makes the present content approve its commands in this clone.
func (a *Approvals) Trust(now time.Time) error {
	if a.sum == "" {
		return diag.New(diag.FileNotFound, "there is no %s", ApprovalsFile).In(ApprovalsFile).
			WithHint("git clada allow add -- COMMAND makes it")
	}
	const most = 20 // contents, so that switching between branches does not ask again
	a.Trusted, a.New = true, nil
	a.entries = slices.DeleteFunc(a.entries, func(t trusted) bool { return t.Sum == a.sum })
	a.entries = append(a.entries, trusted{a.sum, a.effective(), now.UTC().Format(time.RFC3339)})
	a.entries = a.entries[max(0, len(a.entries)-most):]
	return a.remember()
}

// forget takes trust in a text back, wherever it was trusted.
func (a *Approvals) forget(text string) {
	a.entries = slices.DeleteFunc(a.entries, func(t trusted) bool { return slices.Contains(t.Commands, text) })
}

func (a *Approvals) remember() error {
	text, err := json.MarshalIndent(a.entries, "", " ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(a.trust), 0o777)
	}
	if err == nil {
		err = replace(a.trust, append(text, '\n'), 0o600)
	}
	return cannotSave(a.trust, err)
}

// write replaces the file of the working tree.
func (a *Approvals) write(text []byte) error {
	dir := filepath.Dir(a.file)
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		var info fs.FileInfo
		if info, err = os.Lstat(dir); err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is no plain directory", filepath.Base(dir))
		}
	}
	if err == nil {
		err = replace(a.file, text, 0o666)
	}
	return cannotSave(ApprovalsFile, err)
}

func cannotSave(name string, err error) error {
	if err == nil {
		return nil
	}
	return diag.Wrap(err, diag.PermissionDenied, "writing %s: %v", name, err).In(name)
}

// replace writes a file as a whole: beside its place, then renamed.
func replace(file string, text []byte, perm fs.FileMode) error {
	tmp := file + ".tmp"
	os.Remove(tmp)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp, file)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// Printable reports whether a text shows everything it holds: nothing else can be approved, since nobody could tell what
// it was.
func Printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && hidden(r) })
}

func hidden(r rune) bool {
	return r < 0x20 || r >= 0x7f && r <= 0x9f || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f ||
		r == 0xfeff || r == 0x61c || r == 0xfffd || r >= 0xe0000 && r <= 0xe007f
}
