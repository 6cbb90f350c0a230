package repo

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-clada/git-clada/internal/diag"
)

// Store reads and writes objects. Its methods may be used by several goroutines.
//
// A dry store keeps what is written in memory, so a plan can be worked out to its tree without leaving anything behind.
type Store struct {
	git    *git
	dir    string // objects/, absolute
	level  int    // of compression
	shared bool   // core.sharedRepository

	reading sync.Mutex
	cat     *catFile

	writing sync.Mutex
	dry     bool
	memory  map[OID]stored // what a dry store has written
	fresh   []string       // files written since the last Sync
	written map[OID]bool
	trees   map[OID][]TreeEntry // small trees that were read or written
}

type stored struct {
	kind string
	data []byte
}

func newStore(g *git, dir string, c Config) *Store {
	s := &Store{git: g, dir: dir, level: zlib.BestSpeed, memory: map[OID]stored{}, written: map[OID]bool{}, trees: map[OID][]TreeEntry{}}
	if v, ok := c.Value("core.looseCompression"); ok {
		if n, err := strconv.Atoi(v); err == nil && n >= -1 && n <= 9 {
			s.level = n
		}
	}
	v, ok := c.Value("core.sharedRepository")
	s.shared = ok && v != "umask" && v != "false" && v != "0"
	return s
}

// Dry makes the store keep what it is given in memory.
func (s *Store) Dry() { s.dry = true }

// IsDry reports whether the store keeps what it is given in memory.
func (s *Store) IsDry() bool { return s.dry }

// catFile is a running git cat-file --batch-command.
type catFile struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Start starts the reading process, so that it is ready when it is needed.
func (s *Store) Start() error {
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.start()
}

func (s *Store) start() error {
	if s.cat != nil {
		return nil
	}
	cmd := s.git.command(context.Background(), "cat-file", "--batch-command")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return failed(cmd, err, "")
	}
	s.cat = &catFile{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10)}
	return nil
}

func (s *Store) close() {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.cat == nil {
		return
	}
	s.cat.in.Close()
	go s.cat.cmd.Wait() // it ends by itself; nobody needs to wait for it
	s.cat = nil
}

// ask sends one request and reads the header of the answer.
func (s *Store) ask(verb, name string) (oid OID, kind string, size int, err error) {
	if strings.ContainsAny(name, "\n\x00") {
		return "", "", 0, fmt.Errorf("object name with a line end: %q", name)
	}
	if err := s.start(); err != nil {
		return "", "", 0, err
	}
	if _, err := io.WriteString(s.cat.in, verb+" "+name+"\n"); err != nil {
		return "", "", 0, diag.Wrap(err, diag.GitOperationFailed, "git cat-file ended")
	}
	line, err := s.cat.out.ReadString('\n')
	if err != nil {
		return "", "", 0, diag.Wrap(err, diag.GitOperationFailed, "git cat-file ended")
	}
	f := strings.Fields(line)
	if len(f) != 3 || !isOID(f[0]) {
		return "", "", 0, nil // "NAME missing" or "NAME ambiguous"
	}
	size, err = strconv.Atoi(f[2])
	return OID(f[0]), f[1], size, err
}

// Resolve gives the object that a revision names, "" if there is none.
func (s *Store) Resolve(rev string) (OID, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	oid, _, _, err := s.ask("info", rev)
	return oid, err
}

func (s *Store) remembered(oid OID) (stored, bool) {
	s.writing.Lock()
	defer s.writing.Unlock()
	o, ok := s.memory[oid]
	return o, ok
}

// missing is the error for an object that is not there.
func missing(name string) error {
	return diag.New(diag.GitOperationFailed, "object %s is missing", name).
		WithHint("in a partial clone, git fetch it first; otherwise git fsck tells what is wrong")
}

// Read gives an object of a kind. The name may be any revision.
func (s *Store) Read(name, kind string) (OID, []byte, error) {
	if o, ok := s.remembered(OID(name)); ok {
		return OID(name), o.data, nil
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	oid, got, size, err := s.ask("contents", name)
	if err != nil {
		return "", nil, err
	}
	if oid == "" {
		return "", nil, missing(name)
	}
	data := make([]byte, size+1) // and the line end behind it
	if _, err := io.ReadFull(s.cat.out, data); err != nil {
		return "", nil, diag.Wrap(err, diag.GitOperationFailed, "git cat-file ended")
	}
	if got != kind {
		return "", nil, diag.New(diag.GitOperationFailed, "object %s is a %s, not a %s", name, got, kind)
	}
	return oid, data[:size], nil
}

// Blob gives the content of a blob.
func (s *Store) Blob(oid OID) ([]byte, error) {
	_, data, err := s.Read(string(oid), "blob")
	return data, err
}

// HashBlob gives the name that content would have as a blob.
func HashBlob(content []byte) OID { return hashObject("blob", content) }

func hashObject(kind string, data []byte) OID {
	h := sha1.New()
	io.WriteString(h, kind+" "+strconv.Itoa(len(data))+"\x00")
	h.Write(data)
	return OID(hex.EncodeToString(h.Sum(nil)))
}

// WriteBlob stores content as a blob.
func (s *Store) WriteBlob(content []byte) (OID, error) { return s.write("blob", content) }

// write stores an object loose: a temporary file in objects/, renamed into place, read-only. An object that is there
// already gets a new modification time, so that a garbage collection that is looking just now keeps it.
func (s *Store) write(kind string, data []byte) (OID, error) {
	oid := hashObject(kind, data)
	s.writing.Lock()
	known := s.written[oid]
	s.written[oid] = true
	if s.dry {
		s.memory[oid] = stored{kind, data}
		known = true
	}
	s.writing.Unlock()
	if known {
		return oid, nil
	}
	file := filepath.Join(s.dir, string(oid[:2]), string(oid[2:]))
	now := time.Now()
	if os.Chtimes(file, now, now) == nil {
		return oid, nil
	}
	if err := s.writeLoose(file, kind, data); err != nil {
		s.writing.Lock()
		delete(s.written, oid)
		s.writing.Unlock()
		return "", diag.Wrap(err, diag.GitOperationFailed, "writing an object: %v", err)
	}
	return oid, nil
}

var zlibWriters sync.Pool

func (s *Store) writeLoose(file, kind string, data []byte) (err error) {
	var packed bytes.Buffer
	z, _ := zlibWriters.Get().(*zlib.Writer)
	if z == nil {
		if z, err = zlib.NewWriterLevel(&packed, s.level); err != nil {
			return err
		}
	}
	z.Reset(&packed)
	io.WriteString(z, kind+" "+strconv.Itoa(len(data))+"\x00")
	z.Write(data)
	if err := z.Close(); err != nil {
		return err
	}
	zlibWriters.Put(z)
	tmp, err := os.CreateTemp(s.dir, "tmp_obj_clada_")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	if _, err = tmp.Write(packed.Bytes()); err == nil {
		err = tmp.Chmod(0o444)
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), file); os.IsNotExist(err) {
		if err = s.makeFanout(filepath.Dir(file)); err == nil {
			err = os.Rename(tmp.Name(), file)
		}
	}
	if err != nil {
		return err
	}
	s.writing.Lock()
	s.fresh = append(s.fresh, file)
	s.writing.Unlock()
	return nil
}

func (s *Store) makeFanout(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if err != nil && !os.IsExist(err) {
		return err
	}
	if s.shared {
		if info, err := os.Stat(s.dir); err == nil {
			return os.Chmod(dir, info.Mode().Perm()|info.Mode()&os.ModeSetgid)
		}
	}
	return nil
}

// Sync brings everything written so far to the disk.
func (s *Store) Sync() error {
	s.writing.Lock()
	files := s.fresh
	s.fresh = nil
	s.writing.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, len(files))
	limit := make(chan struct{}, 16)
	for i, file := range files {
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			errs[i] = syncFile(file)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return diag.Wrap(err, diag.GitOperationFailed, "bringing objects to the disk: %v", err)
		}
	}
	return nil
}

func syncFile(file string) error {
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return nil // a concurrent git repack has it in a pack already
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
