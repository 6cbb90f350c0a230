package runner

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// program writes a file that can be run.
func program(t *testing.T, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestNoProgramOfTheTree: neither a built-in command nor an approved one is found in a directory that a reply can write to,
// whatever the path says.
func TestNoProgramOfTheTree(t *testing.T) {
	home := t.TempDir()
	top := filepath.Join(home, "work")
	for _, dir := range []string{top, top + "/bin", home + "/anybody", home + "/good"} {
		program(t, dir+"/ls")
	}
	if err := os.Symlink(top+"/bin", home+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home+"/anybody", 0o777); err != nil {
		t.Fatal(err)
	}
	p := &Policy{Top: top, System: []string{"", ".", "bin", top, top + "/bin", home + "/link", home + "/anybody", home + "/good"}, Approvals: &Approvals{}}
	if got := p.find("ls"); got != home+"/good/ls" {
		t.Errorf("a built-in command is %s", got)
	}
	p.Env = []string{"PATH=:.:bin:" + top + "/bin:" + home + "/link:" + home + "/good"}
	p.Approvals.Once = []string{"ls"}
	v, err := p.Judge(&Command{Text: "ls", Words: []string{"ls"}}, anyPath{})
	if err != nil || v.Program.Path != home+"/good/ls" {
		t.Errorf("an approved command is %s (%v)", v.Program.Path, err)
	}
	if path := pathOf(v.Program.Env); !slices.Equal(path, []string{home + "/good"}) {
		t.Errorf("its PATH is %q", path)
	}
	// named by its path, it is what the person approved
	p.Approvals.Once = []string{"./bin/ls"}
	if v, _ := p.Judge(&Command{Text: "./bin/ls", Words: []string{"./bin/ls"}}, anyPath{}); v == nil || v.Program.Path != top+"/bin/ls" {
		t.Errorf("%+v", v)
	}
}

// TestEnvironment: what changes a shell, a loader or git does not reach an approved command; what says who the person is,
// and everything else, does.
func TestEnvironment(t *testing.T) {
	keep := []string{"HOME=/h", "LANG=C", "GIT_AUTHOR_NAME=a", "GIT_CONFIG_GLOBAL=/g", "npm_config_x=1", "GOFLAGS=-mod=mod", "LIBRARY=x", "A_GIT_B=1"}
	drop := []string{
		"BASH_ENV=x", "ENV=x", "SHELLOPTS=x", "PS4=x", "IFS=x", "CDPATH=x", "LD_PRELOAD=x", "LD_ANYTHING=x", "DYLD_INSERT_LIBRARIES=x", "PAGER=x",
		"EDITOR=x", "GIT_DIR=x", "GIT_EXTERNAL_DIFF=x", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=x", "BASH_FUNC_ls%%=() { evil; }", "NODE_OPTIONS=x",
	}
	p := &Policy{Top: "/nowhere", Env: append(slices.Clone(keep), drop...), Approvals: &Approvals{}}
	env := p.personsEnvironment()
	for _, kv := range keep {
		if !slices.Contains(env, kv) {
			t.Errorf("%s is missing", kv)
		}
	}
	for _, kv := range drop {
		if slices.Contains(env, kv) {
			t.Errorf("%s is there", kv)
		}
	}
	p.Keep = []string{"NODE_OPTIONS"}
	if !slices.Contains(p.personsEnvironment(), "NODE_OPTIONS=x") {
		t.Error("clada.keepEnv keeps nothing")
	}
}

// TestInputs: which files of a reply decide what an approved command does.
func TestInputs(t *testing.T) {
	for _, c := range []struct {
		command, dir string
		written      string // blanks between; with ! it can be run
		want         string
	}{
		{"npm test", "", "src/a.js package.json", "package.json"},
		{"npm test", "", "src/a.js README.md", ""},
		{"npm test", "", "packages/x/package.json", "packages/x/package.json"},
		{"npm run build", "", "vite.config.ts", "vite.config.ts"},
		{"make test", "", "Makefile src/a.c rules.mk", "Makefile rules.mk"},
		{"go test ./...", "", "a.go a_test.go", ""},
		{"go test ./...", "", "go.mod", "go.mod"},
		{"pytest", "", "tests/test_a.py", ""},
		{"pytest", "", "tests/conftest.py", "tests/conftest.py"},
		{"pytest tests/test_a.py", "", "tests/test_a.py tests/test_b.py", "tests/test_a.py"},
		{"node app.js", "dist", "dist/app.js dist/lib.js", "dist/app.js"},
		{"node ./app", "dist", "dist/app.js", "dist/app.js"},
		{"cd dist && node app.js", "", "dist/app.js", "dist/app.js"},
		{"sh -c './run --all; x'", "", "!run other", "run"},
		{"./gradlew test", "", "build.gradle", "build.gradle"},
		{"anything", "", "tool.sh", "tool.sh"},
		{"npm test", "", "test.js src/test.ts", ""},
		{"make build", "", "build.rs", ""},
		{"python3 -m helper", "", "helper.py", "helper.py"},
		{"tool", "", "tool.py", "tool.py"},
		{"bin/tool x", "", "bin/tool.exe", "bin/tool.exe"},
		{"anything", "", "!bin/tool doc", "bin/tool"},
		{"npm test", "", "", ""},
	} {
		var written []Written
		for name := range strings.FieldsSeq(c.written) {
			path, script := strings.CutPrefix(name, "!")
			written = append(written, Written{path, script})
		}
		cmd := &Command{Text: c.command, Dir: c.dir}
		if !strings.ContainsAny(c.command, "&;'") {
			cmd.Words = strings.Fields(c.command)
		}
		if got := strings.Join(cmd.Inputs(written), " "); got != c.want {
			t.Errorf("%s, written %s: %q, want %q", c.command, c.written, got, c.want)
		}
	}
}

// TestEntryOfCode: code is approved by its language and every byte of it; the first line is for people.
func TestEntryOfCode(t *testing.T) {
	a := &Command{Language: "python", Text: "print(1)\nprint(2)\n"}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(a.Text)))
	if want := "exec python sha256:" + sum + " print(1)"; a.Entry() != want {
		t.Errorf("%s", a.Entry())
	}
	for _, other := range []Command{{Language: "python", Text: "print(1)\nprint(3)\n"}, {Language: "bash", Text: a.Text}, {Language: "python", Text: a.Text + "\n"}} {
		if other.Entry() == a.Entry() {
			t.Errorf("%+v has the same entry", other)
		}
	}
}
