package runner

import (
	"path"
	"slices"
	"strings"
)

// alwaysInputs are files that decide what some build tool does, whatever the command is called. A name that starts with
// * is an ending.
var alwaysInputs = []string{"package.json", "Makefile", "makefile", "GNUmakefile", "*.mk", "*.sh"}

// inputsOf are the files that decide what a certain program does.
var inputsOf = map[string][]string{
	"npm": nodeInputs, "npx": nodeInputs, "yarn": nodeInputs, "pnpm": nodeInputs, "bun": nodeInputs, "node": nodeInputs, "deno": {"deno.json", "deno.jsonc"},
	"jest": nodeInputs, "vitest": nodeInputs,
	"pytest": pythonInputs, "python": pythonInputs, "python3": pythonInputs, "tox": pythonInputs, "pip": pythonInputs, "poetry": pythonInputs, "uv": pythonInputs,
	"go": {"go.mod", "go.work"}, "cargo": {"Cargo.toml", "build.rs", "config.toml", "rust-toolchain.toml"},
	"just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml"}, "rake": {"Rakefile", "*.rake"}, "bundle": {"Gemfile"},
	"gradle": gradleInputs, "gradlew": gradleInputs, "mvn": {"pom.xml"}, "mvnw": {"pom.xml"}, "composer": {"composer.json"},
	"cmake": {"CMakeLists.txt", "*.cmake"}, "ninja": {"build.ninja"}, "meson": {"meson.build"}, "docker": {"Dockerfile", "compose.yaml", "compose.yml", "docker-compose.yml"},
	"dotnet": {"*.csproj", "*.props", "*.targets"}, "mix": {"mix.exs"}, "sbt": {"build.sbt"}, "pre-commit": {".pre-commit-config.yaml"}, "lefthook": {"lefthook.yml"},
}

var (
	nodeInputs = []string{
		".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", ".pnpmfile.cjs", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml",
		"jest.config.js", "jest.config.ts", "vitest.config.js", "vitest.config.ts", "vite.config.js", "vite.config.ts", "webpack.config.js",
		"babel.config.js", ".babelrc", "tsconfig.json", ".mocharc.json", ".mocharc.js", "eslint.config.js", ".eslintrc.js", "bunfig.toml",
	}
	pythonInputs = []string{"conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "pyproject.toml", "noxfile.py", "sitecustomize.py", "usercustomize.py"}
	gradleInputs = []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "gradle-wrapper.properties"}
)

// Written is a file that a reply wrote.
type Written struct {
	Path   string // relative to the top
	Script bool   // it can be run: it is executable, or names its interpreter in the first line
}

// Inputs gives those of the files that a reply wrote which decide what a command does: it names them, they are what its
// program reads first, or they can be run. An approval of the text says nothing about them.
func (c *Command) Inputs(written []Written) []string {
	words := c.rawWords()
	patterns := slices.Clone(alwaysInputs)
	modules := c.Language != "" // words may name files without their endings
	for _, w := range words {
		patterns = append(patterns, inputsOf[path.Base(w)]...)
		modules = modules || slices.Contains(takeModules, path.Base(w))
	}
	var found []string
	for _, f := range written {
		base := path.Base(f.Path)
		if f.Script || matchesAny(base, patterns) || names(words, modules, c.Dir, f.Path) {
			found = append(found, f.Path)
		}
	}
	slices.Sort(found)
	return found
}

func matchesAny(base string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ending, isEnding := strings.CutPrefix(p, "*")
		return base == p || isEnding && strings.HasSuffix(base, ending)
	})
}

// takeModules are programs that find the file to a name without its ending.
var takeModules = []string{"node", "deno", "bun", "tsx", "ts-node", "python", "python3", "ruby", "perl", "php"}

// names reports whether a command may mean a file: a word is a path to it, from the command's directory or the top, or
// its name; or the program is called like it, but for the ending. The words behind are compared without ending only for
// programs that look for modules: npm test has nothing to do with test.js.
func names(words []string, modules bool, dir, file string) bool {
	base := path.Base(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	for i, w := range words {
		w = strings.TrimPrefix(path.Clean(w), "/")
		if w == file || path.Join(dir, w) == file || path.Base(w) == base {
			return true
		}
		if path.Base(w) == stem && (i == 0 || modules || strings.Contains(w, "/")) {
			return true
		}
	}
	return false
}

// rawWords gives what may be words of a command, whatever a shell would make of them.
func (c *Command) rawWords() []string {
	if c.Words != nil {
		return c.Words
	}
	return strings.FieldsFunc(c.Text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>'\"`=,:", r) })
}
