package repo

import (
	"bytes"
	"encoding/binary"
	"io/fs"

	"golang.org/x/sys/unix"
)

func statTimes(st *unix.Stat_t) (mtime, ctime unix.Timespec) { return st.Mtim, st.Ctim }

// names calls visit for each name of the directory. The name is only valid during the call.
func (d dirHandle) names(buffer []byte, visit func(name []byte, kind nameKind)) error {
	for {
		n, err := unix.Getdents(int(d), buffer)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &fs.PathError{Op: "getdents", Path: ".", Err: err}
		}
		if n <= 0 {
			return nil
		}
		// struct linux_dirent64: ino 8, off 8, reclen 2, type 1, name with a NUL behind it
		for b := buffer[:n]; len(b) > 19; {
			size := binary.NativeEndian.Uint16(b[16:])
			name := b[19:size]
			if end := bytes.IndexByte(name, 0); end >= 0 {
				name = name[:end]
			}
			if s := string(name); s != "." && s != ".." {
				visit(name, direntKind(b[18]))
			}
			b = b[size:]
		}
	}
}

func direntKind(t byte) nameKind {
	switch t {
	case unix.DT_REG, unix.DT_LNK:
		return nameFile
	case unix.DT_DIR:
		return nameDir
	case unix.DT_UNKNOWN:
		return nameUnknown
	}
	return nameOther
}
