//go:build unix

package repo

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// fileStat is what lstat tells of a file.
type fileStat struct {
	size                                     int64
	mtimeSec, mtimeNano, ctimeSec, ctimeNano int64
	dev, ino                                 uint64
	uid, gid                                 uint32
	perm                                     uint32
	isLink, isDir, isRegular                 bool
}

func fromUnix(st *unix.Stat_t) fileStat {
	kind := uint32(st.Mode) & unix.S_IFMT
	mtime, ctime := statTimes(st)
	return fileStat{
		size: st.Size, dev: uint64(st.Dev), ino: st.Ino, uid: st.Uid, gid: st.Gid, perm: uint32(st.Mode) & 0o7777,
		mtimeSec: int64(mtime.Sec), mtimeNano: int64(mtime.Nsec), ctimeSec: int64(ctime.Sec), ctimeNano: int64(ctime.Nsec),
		isLink: kind == unix.S_IFLNK, isDir: kind == unix.S_IFDIR, isRegular: kind == unix.S_IFREG,
	}
}

func lstat(name string) (fileStat, error) {
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return fileStat{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return fromUnix(&st), nil
}

func isNotDir(err error) bool { return errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) }

type nameKind uint8

const (
	nameUnknown nameKind = iota
	nameFile             // a file or link
	nameDir
	nameOther // FIFO, socket, device
)

// dirName is a name in a directory.
type dirName struct {
	name string
	kind nameKind
}

// dirHandle is an open directory of the working tree.
type dirHandle int

// openDir opens a directory without following a link in the last place.
func openDir(top, dir string) (dirHandle, error) {
	name := filepath.Join(top, dir)
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return dirHandle(fd), nil
}

func (d dirHandle) close() { unix.Close(int(d)) }

func (d dirHandle) stat(name string) (fileStat, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(d), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fileStat{}, err
	}
	return fromUnix(&st), nil
}

// kind asks for the kind of a name where the directory did not tell.
func (d dirHandle) kind(name string) nameKind {
	info, err := d.stat(name)
	switch {
	case err != nil:
		return nameOther
	case info.isDir:
		return nameDir
	case info.isRegular, info.isLink:
		return nameFile
	}
	return nameOther
}
