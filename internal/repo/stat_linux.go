package repo

import "golang.org/x/sys/unix"

func statTimes(st *unix.Stat_t) (mtime, ctime unix.Timespec) { return st.Mtim, st.Ctim }
