package internal

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/git-clada/git-clada/"

// mayImport is the house's law: who may know whom. Packages outside the standard library are named by a prefix.
var mayImport = map[string][]string{
	"internal/diag":    {},
	"internal/batch":   {"internal/diag"},
	"internal/parse":   {"internal/batch", "internal/diag"},
	"internal/notes":   {"internal/batch", "internal/diag"},
	"internal/apply":   {"internal/batch", "internal/diag", "mvdan.cc/sh"},
	"internal/repo":    {"internal/batch", "internal/diag", "github.com/go-git/go-git", "golang.org/x/sys"},
	"internal/txn":     {"internal/apply", "internal/batch", "internal/notes", "internal/repo", "internal/diag", "golang.org/x/sys"},
	"internal/history": {"internal/txn", "internal/repo", "internal/notes", "internal/apply", "internal/parse", "internal/batch", "internal/diag"},
	"internal/runner":  {"internal/diag", "github.com/landlock-lsm/go-landlock", "golang.org/x/sys"},
	"internal/review":  {"internal/apply", "internal/batch", "internal/diag", "github.com/hexops/gotextdiff", "github.com/rogpeppe/go-internal/diff"},
	"internal/report":  {"internal/apply", "internal/batch", "internal/diag", "internal/notes", "internal/repo", "internal/txn"},
	"internal/testkit": {"golang.org/x/sys"},
	"internal/bench":   {"internal/parse"},
	"docs":             {},
	"cmd/git-clada":    {"internal/", "docs", "github.com/urfave/cli"},
}

// effects are standard packages that only some rooms may use: who starts programs, and who touches the disk.
var effects = map[string][]string{
	"os/exec": {"internal/repo", "internal/runner", "internal/testkit", "internal/bench"},
	"os":      {"internal/repo", "internal/runner", "internal/txn", "internal/testkit", "internal/bench", "cmd/git-clada"},
	"net":     {}, "net/http": {},
}

// TestImports: every room imports only what its law allows, and every package has a law.
func TestImports(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != ".." {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		seen++
		checkFile(t, filepath.ToSlash(path))
		return nil
	})
	if err != nil || seen < 20 {
		t.Fatal("only", seen, "files seen", err)
	}
}

func checkFile(t *testing.T, path string) {
	room := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
	allowed, known := mayImport[room]
	if !known {
		t.Errorf("%s: the package %s has no import law", path, room)
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if users, guarded := effects[name]; guarded && !slices.Contains(users, room) {
			t.Errorf("%s must not import %s: that effect belongs elsewhere", path, name)
		}
		first, _, _ := strings.Cut(name, "/")
		if !strings.Contains(first, ".") {
			continue // the standard library
		}
		local := strings.TrimPrefix(name, module)
		if !slices.ContainsFunc(allowed, func(prefix string) bool { return strings.HasPrefix(local, prefix) }) {
			t.Errorf("%s must not import %s", path, name)
		}
	}
}

// TestLawsAreUsed: a law for a package that does not exist is a mistake.
func TestLawsAreUsed(t *testing.T) {
	for room := range mayImport {
		files, err := filepath.Glob("../" + room + "/*.go")
		if err != nil || len(files) == 0 {
			t.Errorf("%s has an import law and no files", room)
		}
	}
}
