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
func (r *Repo) Scan(ctx context.Context, x *Index) (*Scan, error) {
	w := &scanner{
		repo: r, index: x, trustMode: r.Config.Bool("core.fileMode", true), links: r.Config.Bool("core.symlinks", true),
		trustCtime: r.Config.Bool("core.trustctime", true), minimal: isMinimal(r.Config), gitlinks: map[string]bool{},
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
	s := &Scan{Index: x, Gitlinks: w.gitlinks, converts: r.conversions(x, w.attributes)}
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

// child is what the index has directly in a directory: a file, a directory of files, or both (a conflict in progress).
type child struct {
	name   string
	entry  int32 // -1 without a file
	lo, hi int32 // entries below, if it is a directory
	seen   bool
}

// space is what one worker needs for a directory, used again for the next one.
type space struct {
	children []child
	byName   map[string]int32
	buffer   []byte
}

var spaces = sync.Pool{New: func() any {
	return &space{byName: map[string]int32{}, buffer: make([]byte, 32<<10)}
}}

func (w *scanner) dir(j dirJob) {
	defer w.queue.Done()
	d, err := openDir(w.repo.Top, j.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
			w.lost(j.lo, j.hi)
			return
		}
		if j.lo == j.hi {
			return // an untracked directory that may not be read is none of our business
		}
		w.fail(err)
		return
	}
	defer d.close()
	sp := spaces.Get().(*space)
	defer spaces.Put(sp)
	f := dirFrame{scanner: w, job: j, dir: d, rules: j.rules, space: sp}
	f.findChildren()
	if err := d.names(sp.buffer, f.name); err != nil {
		w.fail(err)
		return
	}
	f.untrackedNames()
	f.finish()
}

// findChildren sorts the entries below the directory by their next path component.
func (f *dirFrame) findChildren() {
	x, j := f.index, f.job
	f.children = f.children[:0]
	clear(f.byName)
	add := func(name string) *child {
		if i, ok := f.byName[name]; ok {
			return &f.children[i]
		}
		f.byName[name] = int32(len(f.children))
		f.children = append(f.children, child{name: name, entry: -1})
		return &f.children[len(f.children)-1]
	}
	for i := j.lo; i < j.hi; {
		rest := x.Entries[i].Path[len(j.path):]
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			add(rest).entry = int32(i)
			i++
			continue
		}
		next := x.behind(i, j.hi, x.Entries[i].Path[:len(j.path)+slash+1])
		c := add(rest[:slash])
		c.lo, c.hi = int32(i), int32(next)
		i = next
	}
}

// lost records that the files of entries [lo, hi) are gone, but for those that are not checked out anyway.
func (w *scanner) lost(lo, hi int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := lo; i < hi; i++ {
		e := &w.index.Entries[i]
		if !e.SkipWorktree() && !e.AssumeValid() && e.Mode != ModeGitlink {
			w.gone = append(w.gone, i)
		}
	}
}

// dirFrame is one directory being looked at.
type dirFrame struct {
	*scanner
	*space
	job       dirJob
	dir       dirHandle
	rules     *ignoreRules
	other     []dirName // what the index does not have, looked at when the directory's rules are known
	suspected []suspect
	found     []string
	subdirs   []dirJob
}

// readRules reads the directory's .gitignore. As in git, a symbolic link is not followed.
func (f *dirFrame) readRules() {
	file := filepath.Join(f.repo.Top, f.job.path, ".gitignore")
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return
	}
	if content, err := os.ReadFile(file); err == nil {
		f.rules = &ignoreRules{parent: f.job.rules, file: parseIgnoreFile(f.job.path, content), fold: f.repo.Config.Bool("core.ignoreCase", false)}
	}
}

// name looks at one name of the directory. Most are tracked files, and for those nothing is allocated.
func (f *dirFrame) name(name []byte, kind nameKind) {
	if i, ok := f.byName[string(name)]; ok {
		if string(name) == ".gitignore" && !f.job.ignored {
			f.readRules()
		}
		c := &f.children[i]
		c.seen = true
		f.tracked(c, kind)
		return
	}
	switch string(name) {
	case ".git":
		return
	case ".gitignore":
		if !f.job.ignored {
			f.readRules()
		}
	}
	if !f.job.ignored {
		f.other = append(f.other, dirName{string(name), kind})
	}
}

// untrackedNames looks at what the index does not have, and at the directories below. By now the rules are known.
func (f *dirFrame) untrackedNames() {
	for i := range f.other {
		n := &f.other[i]
		if n.kind == nameUnknown {
			n.kind = f.dir.kind(n.name)
		}
		f.untrackedName(f.job.path+n.name, n)
	}
	for _, j := range f.subdirs {
		j.rules = f.rules
		j.ignored = f.job.ignored || f.rules.ignored(strings.TrimSuffix(j.path, "/"), true)
		f.spawn(j)
	}
}

func (f *dirFrame) untrackedName(path string, n *dirName) {
	isDir := n.kind == nameDir
	if n.kind == nameOther || f.rules.ignored(path, isDir) {
		return
	}
	if !isDir {
		f.found = append(f.found, path)
		if n.name == ".gitattributes" {
			f.mu.Lock()
			f.attributes = append(f.attributes, path)
			f.mu.Unlock()
		}
		return
	}
	if !isRepository(filepath.Join(f.repo.Top, path)) {
		f.spawn(dirJob{path: path + "/", rules: f.rules})
	}
}

// isRepository reports whether a directory is the top of a repository of its own.
func isRepository(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, ".git"))
	if err != nil {
		return false
	}
	if !info.IsDir() {
		return true
	}
	_, err = os.Stat(filepath.Join(dir, ".git", "HEAD"))
	return err == nil
}

// tracked compares what the index has under a name with what stands there.
func (f *dirFrame) tracked(c *child, kind nameKind) {
	if kind == nameUnknown {
		kind = f.dir.kind(c.name)
	}
	if c.hi > c.lo {
		if kind == nameDir {
			f.subdirs = append(f.subdirs, dirJob{path: f.job.path + c.name + "/", lo: int(c.lo), hi: int(c.hi)})
		} else {
			f.lost(int(c.lo), int(c.hi))
			if c.entry < 0 && !f.job.ignored {
				f.other = append(f.other, dirName{c.name, kind})
			}
		}
	}
	if c.entry < 0 {
		return
	}
	e := &f.index.Entries[c.entry]
	switch {
	case e.Mode == ModeGitlink, e.SkipWorktree(), e.AssumeValid() && !e.IntentToAdd():
		return
	case kind == nameDir:
		f.lost(int(c.entry), int(c.entry)+1)
		if c.hi == c.lo && !f.job.ignored {
			f.other = append(f.other, dirName{c.name, kind})
		}
		return
	case kind == nameOther:
		f.lost(int(c.entry), int(c.entry)+1)
		return
	}
	info, err := f.dir.stat(c.name)
	if err != nil {
		f.lost(int(c.entry), int(c.entry)+1)
		return
	}
	if !f.clean(e, &info) {
		f.suspected = append(f.suspected, suspect{int(c.entry), info})
	}
}

// clean reports whether a file must be what the index remembers. A file as young as the index may have changed without
// a trace, in the same second.
func (w *scanner) clean(e *IndexEntry, info *fileStat) bool {
	s := w.index.stat(e)
	if e.IntentToAdd() || uint32(info.size) != s.size || uint32(info.mtimeSec) != s.mtimeSec {
		return false
	}
	if int64(s.mtimeSec) >= w.index.Seconds {
		return false
	}
	if !w.sameType(e, info) {
		return false
	}
	if w.minimal {
		return true
	}
	if s.mtimeNano != 0 && uint32(info.mtimeNano) != s.mtimeNano {
		return false
	}
	if w.trustCtime && (uint32(info.ctimeSec) != s.ctimeSec || (s.ctimeNano != 0 && uint32(info.ctimeNano) != s.ctimeNano)) {
		return false
	}
	return uint32(info.ino) == s.ino && info.uid == s.uid && info.gid == s.gid
}

func (w *scanner) sameType(e *IndexEntry, info *fileStat) bool {
	return w.modeOf(e, info) == e.Mode
}

// modeOf gives the mode that git would give a file: where the file system keeps no permissions or links, the mode that
// the index has.
func (w *scanner) modeOf(e *IndexEntry, info *fileStat) Mode {
	switch {
	case info.isLink:
		return ModeLink
	case e != nil && !w.links && e.Mode == ModeLink:
		return ModeLink
	case !w.trustMode && e != nil && (e.Mode == ModeExec || e.Mode == ModeFile):
		return e.Mode
	case w.trustMode && info.perm&0o100 != 0:
		return ModeExec
	}
	return ModeFile
}

func (f *dirFrame) finish() {
	for i := range f.children {
		c := &f.children[i]
		if c.seen {
			continue
		}
		f.lost(int(c.lo), int(c.hi))
		if c.entry >= 0 {
			f.lost(int(c.entry), int(c.entry)+1)
		}
	}
	if len(f.suspected)+len(f.found) == 0 {
		return
	}
	f.mu.Lock()
	f.suspects = append(f.suspects, f.suspected...)
	f.untracked = append(f.untracked, f.found...)
	f.mu.Unlock()
}

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
