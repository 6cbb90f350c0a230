package repo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

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
	w.noteDir(j.path, d)
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
	if f.job.ignored {
		f.noteClosed(f.job.path + string(name))
		return
	}
	f.other = append(f.other, dirName{string(name), kind})
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
	if n.kind == nameOther {
		return
	}
	if f.rules.ignored(path, isDir) {
		f.noteClosed(path)
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
	if isRepository(filepath.Join(f.repo.Top, path)) {
		f.noteClosed(path)
		return
	}
	f.spawn(dirJob{path: path + "/", rules: f.rules})
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
	f.note(e.Path, &info)
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
