package repo

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Caps of what a snapshot takes in of untracked files, in bytes.
const (
	MaxUntrackedFile = 10 << 20
	MaxUntracked     = 256 << 20
)

// WorkFile is what the working tree has at a path that the index has otherwise, or not at all.
type WorkFile struct {
	Path      string
	Blob      Blob // as git would store it; the zero Blob if the file is gone
	Untracked bool
}

// Scan is the difference between the index and the working tree, ignored files aside.
type Scan struct {
	Index    *Index
	Files    []WorkFile // sorted by path
	LeftOut  []string   // untracked files above the caps
	Gitlinks map[string]bool
	converts *converts

	// of a thorough scan
	Closed map[string]bool   // files and directories that were not looked into: ignored ones, and repositories of their own
	Dirs   map[string]uint32 // directories that were looked into, with their permissions
	Perms  map[string]uint32 // permissions of files that are not those that git gives a file, 0644 or 0755
}

// Converts reports whether git may store a path otherwise than it stands in the working tree.
func (s *Scan) Converts(path string) bool { return s.converts.path(path) }

// Changes gives the scan as changes on the tree of the index.
func (s *Scan) Changes() map[string]Blob {
	changes := make(map[string]Blob, len(s.Files))
	for _, f := range s.Files {
		changes[f.Path] = f.Blob
	}
	return changes
}

// Scan compares the index with the working tree and stores the content of what differs. Files whose stat data is what
// the index remembers are not opened.
func (r *Repo) Scan(ctx context.Context, x *Index) (*Scan, error) { return r.scan(ctx, x, false) }

// ScanThoroughly is Scan that also takes note of what git does not record: directories and permissions.
func (r *Repo) ScanThoroughly(ctx context.Context, x *Index) (*Scan, error) {
	return r.scan(ctx, x, true)
}

func (r *Repo) scan(ctx context.Context, x *Index, thorough bool) (*Scan, error) {
	w := &scanner{
		repo: r, index: x, trustMode: r.Config.Bool("core.fileMode", true), links: r.Config.Bool("core.symlinks", true),
		trustCtime: r.Config.Bool("core.trustctime", true), minimal: isMinimal(r.Config), gitlinks: map[string]bool{},
	}
	if thorough {
		w.dirs, w.perms, w.closed = map[string]uint32{}, map[string]uint32{}, map[string]bool{}
	}
	for i := range x.Entries {
		if x.Entries[i].Mode == ModeGitlink {
			w.gitlinks[strings.Clone(x.Entries[i].Path)] = true
		}
	}
	w.walk(r.ignoreBase())
	if w.err != nil {
		return nil, w.err
	}
	s := &Scan{Index: x, Gitlinks: w.gitlinks, converts: r.conversions(x, w.attributes), Dirs: w.dirs, Perms: w.perms, Closed: w.closed}
	return s, r.hashFound(ctx, w, s)
}

func isMinimal(c Config) bool {
	v, _ := c.Value("core.checkStat")
	return strings.EqualFold(v, "minimal")
}

// scanner walks the working tree and the index together, a directory at a time, with several workers.
type scanner struct {
	repo                                  *Repo
	index                                 *Index
	trustMode, trustCtime, minimal, links bool

	mu         sync.Mutex
	suspects   []suspect
	untracked  []string
	gone       []int // entries whose file is not there
	attributes []string
	gitlinks   map[string]bool
	dirs       map[string]uint32 // nil unless the scan is thorough
	perms      map[string]uint32
	closed     map[string]bool
	err        error

	queue sync.WaitGroup
	slots chan struct{}
}

// suspect is an entry whose file may have changed.
type suspect struct {
	entry int
	info  fileStat
}

// dirJob is one directory to look at: the entries below it, and the rules that hold above it.
type dirJob struct {
	path    string // "" or with a slash at the end
	lo, hi  int
	rules   *ignoreRules
	ignored bool
}

func (w *scanner) walk(rules *ignoreRules) {
	w.slots = make(chan struct{}, max(runtime.GOMAXPROCS(0)*2, 2))
	w.queue.Add(1)
	w.dir(dirJob{hi: len(w.index.Entries), rules: rules})
	w.queue.Wait()
}

// spawn looks at a directory in another worker if one is free, else in this one.
func (w *scanner) spawn(j dirJob) {
	w.queue.Add(1)
	select {
	case w.slots <- struct{}{}:
		go func() {
			w.dir(j)
			<-w.slots
		}()
	default:
		w.dir(j)
	}
}

func (w *scanner) fail(err error) {
	w.mu.Lock()
	if w.err == nil {
		w.err = systemError(err)
	}
	w.mu.Unlock()
}

// note remembers permissions that git does not record.
func (w *scanner) note(path string, info *fileStat) {
	if w.perms == nil || info.isLink || info.perm == 0o644 || info.perm == 0o755 {
		return
	}
	w.mu.Lock()
	w.perms[strings.Clone(path)] = info.perm
	w.mu.Unlock()
}

// noteClosed remembers what is not looked into.
func (w *scanner) noteClosed(path string) {
	if w.closed == nil {
		return
	}
	w.mu.Lock()
	w.closed[path] = true
	w.mu.Unlock()
}

// WasClosed reports whether a path, or a directory above it, was not looked into.
func (s *Scan) WasClosed(path string) bool {
	for p := path; p != "."; p = filepath.Dir(p) {
		if s.Closed[p] {
			return true
		}
	}
	return false
}

// noteDir remembers a directory.
func (w *scanner) noteDir(path string, d dirHandle) {
	if w.dirs == nil || path == "" {
		return
	}
	info, err := d.stat(".")
	if err != nil {
		return // gone since it was opened
	}
	w.mu.Lock()
	w.dirs[strings.TrimSuffix(path, "/")] = info.perm
	w.mu.Unlock()
}
