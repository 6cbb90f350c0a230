package repo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"
)

// hashFound stores the content of suspects and untracked files, and keeps those that the index has otherwise.
func (r *Repo) hashFound(ctx context.Context, w *scanner, s *Scan) error {
	sort.Strings(w.untracked)
	var files []workEntry
	var total int64
	for _, path := range w.untracked {
		info, err := lstat(filepath.Join(r.Top, path))
		if err != nil {
			continue // gone since
		}
		if total+info.size > MaxUntracked || info.size > MaxUntrackedFile {
			s.LeftOut = append(s.LeftOut, path)
			continue
		}
		total += info.size
		w.note(path, &info)
		files = append(files, workEntry{path: path, mode: w.modeOf(nil, &info), untracked: true})
	}
	for _, c := range w.suspects {
		e := &w.index.Entries[c.entry]
		f := workEntry{path: strings.Clone(e.Path), mode: w.modeOf(e, &c.info)}
		if !e.IntentToAdd() {
			f.known = Blob{e.Mode, w.index.OID(e)}
		}
		files = append(files, f)
	}
	blobs, err := r.hashFiles(ctx, files, s.converts)
	if err != nil {
		return err
	}
	for i, f := range files {
		if blobs[i] == f.known {
			continue
		}
		s.Files = append(s.Files, WorkFile{Path: f.path, Blob: blobs[i], Untracked: f.untracked})
	}
	for _, i := range w.gone {
		e := &w.index.Entries[i]
		if e.Stage == 0 && !e.IntentToAdd() {
			s.Files = append(s.Files, WorkFile{Path: strings.Clone(e.Path)})
		}
	}
	sort.Slice(s.Files, func(i, j int) bool { return s.Files[i].Path < s.Files[j].Path })
	return nil
}

// workEntry is a file whose content is asked for.
type workEntry struct {
	path      string
	mode      Mode
	known     Blob // what the index has; not stored again
	untracked bool
}

// hashFiles gives what git would store of files in the working tree, and stores it unless it is known.
func (r *Repo) hashFiles(ctx context.Context, files []workEntry, c *converts) ([]Blob, error) {
	blobs := make([]Blob, len(files))
	var byGit []int
	var wg sync.WaitGroup
	var mu sync.Mutex
	var firstErr error
	limit := make(chan struct{}, runtime.GOMAXPROCS(0)*2)
	for i, f := range files {
		if f.mode != ModeLink && c.path(f.path) {
			byGit = append(byGit, i)
			continue
		}
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			b, err := r.hashFile(f)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && firstErr == nil {
				firstErr = err
			}
			blobs[i] = b
		})
	}
	wg.Wait()
	if firstErr != nil || len(byGit) == 0 {
		return blobs, firstErr
	}
	return blobs, r.hashByGit(ctx, files, byGit, blobs)
}

func (r *Repo) hashFile(f workEntry) (Blob, error) {
	name := filepath.Join(r.Top, f.path)
	var content []byte
	var err error
	if info, statErr := os.Lstat(name); statErr == nil && info.Mode()&fs.ModeSymlink != 0 {
		var target string
		target, err = os.Readlink(name)
		content = []byte(target)
	} else {
		content, err = os.ReadFile(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Blob{}, nil // gone since it was looked at
	}
	if err != nil {
		return Blob{}, systemError(err)
	}
	if f.known.OID != "" && HashBlob(content) == f.known.OID {
		return Blob{f.mode, f.known.OID}, nil
	}
	oid, err := r.Objects.WriteBlob(content)
	return Blob{f.mode, oid}, err
}

// hashByGit has git store files that filters or line-ending conversion apply to.
func (r *Repo) hashByGit(ctx context.Context, files []workEntry, which []int, blobs []Blob) error {
	var paths strings.Builder
	for _, i := range which {
		if strings.Contains(files[i].path, "\n") {
			return systemError(errors.New("a file with a line end in its name has a filter: " + files[i].path))
		}
		paths.WriteString(files[i].path + "\n")
	}
	args := []string{"hash-object", "--stdin-paths"}
	if !r.Objects.IsDry() {
		args = append(args, "-w")
	}
	out, err := r.run(ctx, []byte(paths.String()), args...)
	if err != nil {
		return err
	}
	oids := strings.Fields(string(out))
	if len(oids) != len(which) {
		return systemError(errors.New("git hash-object answered for another number of files"))
	}
	for k, i := range which {
		blobs[i] = Blob{files[i].mode, OID(oids[k])}
	}
	return nil
}

// CleanBlob stores content as git would store it for path: filters and line-ending conversion applied.
func (r *Repo) CleanBlob(ctx context.Context, path string, content []byte, s *Scan) (OID, error) {
	if !s.Converts(path) {
		return r.Objects.WriteBlob(content)
	}
	args := []string{"hash-object", "--stdin", "--path", path}
	if !r.Objects.IsDry() {
		args = append(args, "-w")
	}
	out, err := r.run(ctx, content, args...)
	return OID(strings.TrimSpace(string(out))), err
}
