package repo

import (
	"os"

	"golang.org/x/sys/unix"
)

func statTimes(st *unix.Stat_t) (mtime, ctime unix.Timespec) { return st.Mtim, st.Ctim }

// names calls visit for each name of the directory.
func (d dirHandle) names(_ []byte, visit func(name []byte, kind nameKind)) error {
	fd, err := unix.Dup(int(d))
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		kind := nameOther
		switch m := e.Type(); {
		case m.IsRegular(), m&os.ModeSymlink != 0:
			kind = nameFile
		case m.IsDir():
			kind = nameDir
		}
		visit([]byte(e.Name()), kind)
	}
	return err
}
