package history_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/git-clada/git-clada/internal/diag"
	"github.com/git-clada/git-clada/internal/testkit"
)

// TestForeignChanges lets somebody else change something at a chosen moment of an apply. The apply must stop with
// external_modification, take back its own changes, and leave the foreign one alone.
func TestForeignChanges(t *testing.T) {
	before := faultWorld(t)
	for _, c := range []struct {
		name, at string
		nth      int
		change   func(t *testing.T, w *testkit.World)
		kept     string // a line that must be in the photo afterwards
	}{
		{"an editor saves a file", "journal", 1, func(t *testing.T, w *testkit.World) { w.Write(t, "a.txt", "saved by an editor\n") }, `"a.txt"`},
		{"a new file stands in the way", "journal", 1, func(t *testing.T, w *testkit.World) { w.Write(t, "new/er.txt", "theirs\n") }, `"new/er.txt"`},
		{"git add", "publish index", 1, func(t *testing.T, w *testkit.World) { w.Git(t, "add", "mine") }, "index H 100644"},
		{"git commit", "refs", 2, func(t *testing.T, w *testkit.World) {
			w.Git(t, "update-ref", "refs/heads/main", strings.TrimSpace(w.Git(t, "commit-tree", "-p", "HEAD", "-m", "x", "HEAD^{tree}")))
		}, "ref refs/heads/main"},
		{"git checkout", "index", 1, func(t *testing.T, w *testkit.World) { w.Git(t, "symbolic-ref", "HEAD", "refs/heads/elsewhere") }, "HEAD refs/heads/elsewhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := before.Copy(t)
			n, want := 0, ""
			err := perform(w, "apply", doApply, func(effect string) error {
				if effect != c.at {
					return nil
				}
				if n++; n == c.nth {
					c.change(t, w)
					clean := before.Copy(t)
					c.change(t, clean)
					want = clean.Photo(t)
				}
				return nil
			})
			if code := diag.CodeOf(err); code != diag.ExternalModification {
				t.Fatalf("got %v", err)
			}
			now := w.Photo(t)
			if diff := testkit.Diff(strip(want), strip(now)); diff != "" {
				t.Errorf("not what was there, with the foreign change:\n%s", diff)
			}
			if !strings.Contains(now, c.kept) {
				t.Errorf("the foreign change is lost:\n%s", now)
			}
			if _, err := os.Stat(filepath.Join(w.Dir, ".git/clada/journal")); err == nil {
				t.Error("a journal is left")
			}
		})
	}
}

// strip drops commit names, which hold the time.
func strip(photo string) string {
	var b strings.Builder
	for line := range strings.Lines(photo) {
		if !strings.HasPrefix(line, "ref ") && !strings.HasPrefix(line, "at ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// mounted gives a world on a file system of its own, of a given size, or skips the test.
func mounted(t *testing.T, size string) *testkit.World {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a file system of its own cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	source := faultWorld(t)
	if out, err := exec.Command("cp", "-a", source.Home+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	env, err := testkit.SealedEnv(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &testkit.World{Home: dir, Dir: filepath.Join(dir, "work"), Env: env}
}

// TestFullDisk applies on a file system with less and less free space: it works or changes nothing.
func TestFullDisk(t *testing.T) {
	w := mounted(t, "4m")
	want := w.Photo(t)
	filler := filepath.Join(w.Home, "filler")
	worked, refused := 0, 0
	for left := 200 << 10; left >= 0; left -= 8 << 10 {
		fill(t, w.Home, filler, int64(left))
		err := perform(w, "apply", doApply, nil)
		os.Remove(filler)
		if err == nil {
			worked++
			err = perform(w, "undo", doUndo, nil)
		} else {
			refused++
			var e *diag.Error
			if !errors.As(err, &e) {
				t.Errorf("with %d bytes left: no code in %v", left, err)
			}
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := perform(w, "recover", doRecover, nil); err != nil {
			t.Fatalf("with %d bytes left, recovering: %v", left, err)
		}
		if diff := testkit.Diff(want, w.Photo(t)); diff != "" {
			t.Fatalf("with %d bytes left:\n%s", left, diff)
		}
	}
	if worked == 0 || refused == 0 {
		t.Fatalf("worked %d times, refused %d times: the disk was never full, or always", worked, refused)
	}
	t.Logf("free space from 200 KiB down to nothing: worked %d times, refused %d times, nothing lost", worked, refused)
}

// fill writes a file that leaves only so many bytes free.
func fill(t *testing.T, dir, file string, left int64) {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	free := int64(fs.Bavail)*fs.Bsize - left
	if free <= 0 {
		return
	}
	if err := os.WriteFile(file, make([]byte, free), 0o666); err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// TestReadOnly: on a read-only file system apply says so and changes nothing.
func TestReadOnly(t *testing.T) {
	w := mounted(t, "4m")
	want := w.Photo(t)
	if err := syscall.Mount("", w.Home, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=4m"); err != nil {
		t.Skipf("remounting: %v", err)
	}
	err := perform(w, "apply", doApply, nil)
	if code := diag.CodeOf(err); code != diag.PermissionDenied {
		t.Errorf("got %v", err)
	}
	if diff := testkit.Diff(want, w.Photo(t)); diff != "" {
		t.Error(diff)
	}
}
