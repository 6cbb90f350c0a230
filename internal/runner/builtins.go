package runner

// builtin is a command that reads only, and so needs no approval. Its options are a closed list: what is not on it is
// refused, since among the others are options that write files (tree -o, git diff --output), start programs (find -exec,
// git log --show-signature), read lists of files (wc --files0-from), follow links (grep -R) or wait (tail -f).
//
// Options are written as they are used, several plain letters together. Behind a colon stands the kind of the value: s
// any text, n a number, p a path that is read, or the words that are possible. A value that is optional (:?) or is only
// taken when it is attached (:=) must be attached with an equals sign.
type builtin struct {
	options string
	style   style
	least   int      // operands, not counting a pattern
	most    int      // -1 is any number
	entries bool     // operands are looked at as entries of their directory: the last component may be a symbolic link
	digits  bool     // -20 is a count
	links   string   // options with which operands are only looked at
	pattern string   // options that take the place of the pattern that is the first operand; "" if there is no pattern
	bare    string   // options with which no operand is needed
	inject  []string // options that are always added
	oneIsOK bool     // exit status 1 is an answer
}

// style is how a program reads its options.
type style int

const (
	getopt  style = iota // as GNU getopt does: bundles, values attached or as the next word
	apart                // values of short options are always the next word, those of long ones always attached
	words                // options are words with one dash
	gitlike              // bundles only of letters without value; long values attached, or the next word if that is no option
)

var builtins = map[string]builtin{
	"cat": {options: `
		-nbsAETvetu --number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs --show-nonprinting`,
		least: 1, most: -1,
	},
	"diff": {options: `
		-ucrNqsiwbBEZyatTpden -U:n -C:n -W:n -x:s -F:s -I:s --unified:?n --context:?n --normal --recursive --new-file
		--brief --report-identical-files --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines
		--ignore-tab-expansion --ignore-trailing-space --ignore-matching-lines:s --side-by-side --width:n --text
		--expand-tabs --initial-tab --show-c-function --show-function-line:s --minimal --exclude:s --strip-trailing-cr
		--suppress-common-lines --suppress-blank-empty --left-column --no-dereference --label:s --color:=never|auto`,
		least: 2, most: 2, oneIsOK: true, inject: []string{"--no-dereference", "--exclude=.git"},
	},
	"file": {options: `
		-bihkNn0 -F:s --brief --mime --mime-type --mime-encoding --extension --no-dereference --keep-going --no-pad
		--separator:s`,
		least: 1, most: -1, entries: true,
	},
	"grep": {options: `
		-EFGPiyvwxnHhclLoqsrIabTZzU -A:n -B:n -C:n -m:n -e:s --extended-regexp --fixed-strings --basic-regexp --perl-regexp
		--regexp:s --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --line-number --with-filename
		--no-filename --count --files-with-matches --files-without-match --only-matching --quiet --silent --no-messages
		--recursive --text --byte-offset --initial-tab --null --null-data --binary --after-context:n --before-context:n
		--context:n --max-count:n --include:s --exclude:s --exclude-dir:s --binary-files:binary|text|without-match
		--color:=never|auto --colour:=never|auto --line-buffered --group-separator:s --no-group-separator`,
		least: 1, most: -1, digits: true, pattern: "e regexp", bare: "r recursive", oneIsOK: true,
		inject: []string{"--exclude-dir=.git", "--exclude=.git", "--devices=skip"},
	},
	"head": {options: `
		-qvz -n:n -c:n --lines:n --bytes:n --quiet --silent --verbose --zero-terminated`,
		least: 1, most: -1, digits: true,
	},
	"ls": {options: `
		-aAl1hRrtSFpdsinogGBXUvcumxCqbQk -I:s -w:n --all --almost-all --human-readable --si --recursive --reverse --size
		--inode --directory --classify:?never|auto --file-type --full-time --group-directories-first --no-group
		--numeric-uid-gid --hide-control-chars --escape --quote-name --ignore:s --hide:s
		--sort:none|size|time|version|extension|width --time:atime|access|use|ctime|status|birth|creation|mtime
		--time-style:full-iso|long-iso|iso|locale --format:across|commas|horizontal|long|single-column|verbose|vertical
		--color:=never|auto --block-size:n --width:n`,
		most: -1, links: "l d o g n directory",
	},
	"pwd": {options: `
		-LP --logical --physical`,
		most: 0,
	},
	"realpath": {options: `
		-emPLqsz --canonicalize-existing --canonicalize-missing --physical --logical --quiet --strip --no-symlinks --zero
		--relative-to:p --relative-base:p`,
		least: 1, most: -1,
	},
	"stat": {options: `
		-tf -c:s --format:s --printf:s --terse --file-system`,
		least: 1, most: -1, entries: true,
	},
	"tail": {options: `
		-qvz -n:n -c:n --lines:n --bytes:n --quiet --silent --verbose --zero-terminated`,
		least: 1, most: -1, digits: true,
	},
	"tree": {options: `
		-adfishDpugFqQnxvtcUrJX -L:n -I:s -P:s --dirsfirst --filesfirst --noreport --prune --gitignore --ignore-case
		--matchdirs --metafirst --inodes --device --si --du --filelimit:n --sort:name|version|size|mtime|ctime`,
		most: -1, style: apart,
	},
	"wc": {options: `
		-lwcmL --lines --words --bytes --chars --max-line-length`,
		least: 1, most: -1,
	},
	"xxd": {options: `
		-a -autoskip -b -bits -c:n -cols:n -C -capitalize -d -E -EBCDIC -e -g:n -groupsize:n -i -include -l:n -len:n -n:s
		-name:s -o:n -p -ps -postscript -plain -s:n -seek:n -skip:n -u -uppercase`,
		least: 1, most: 1, style: words,
	},
}

// findPrimaries are the words of an expression of find.
const findPrimaries = `
	-name:s -iname:s -path:s -ipath:s -wholename:s -iwholename:s -regex:s -iregex:s
	-regextype:findutils-default|ed|emacs|gnu-awk|grep|posix-awk|awk|posix-basic|posix-egrep|egrep|posix-extended|posix-minimal-basic|sed
	-lname:s -ilname:s -type:s -size:s -empty -mtime:n -atime:n -ctime:n -mmin:n -amin:n -cmin:n -newer:p -anewer:p
	-cnewer:p -maxdepth:n -mindepth:n -depth -d -perm:s -links:n -inum:n -user:s -group:s -nouser -nogroup -readable
	-writable -executable -true -false -daystart -mount -xdev -noleaf -prune -print -print0 -ls -printf:s -quit
	-samefile:p -nowarn`

// findOperators join them.
const findOperators = `( ) ! -not -a -and -o -or ,`

const diffOptions = `
	-puswbaRBDz -U:n -M:?n -C:?n -S:s -G:s -l:n --stat:?s --shortstat --numstat --summary --dirstat:?s --name-only
	--name-status --patch --no-patch --patch-with-stat --raw --unified:n --word-diff:?plain|porcelain|none
	--word-diff-regex:s --no-color --color:=never|auto --diff-filter:s --find-renames:?n --find-copies:?n --no-renames
	--ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol --minimal
	--patience --histogram --diff-algorithm:default|myers|minimal|patience|histogram --function-context
	--inter-hunk-context:n --text --binary --full-index --abbrev:?n --check --exit-code --quiet --relative --pickaxe-all
	--pickaxe-regex --no-prefix --no-ext-diff --no-textconv --submodule:?short|log
	--ignore-submodules:?none|untracked|dirty|all --compact-summary`

const logOptions = `
	-iEFPgcm -n:n -L:s --oneline --graph --all --branches:?s --tags:?s --remotes:?s --decorate:?short|full|auto|no
	--no-decorate --abbrev-commit --no-abbrev-commit --max-count:n --skip:n --since:s --after:s --until:s --before:s
	--author:s --committer:s --grep:s --invert-grep --all-match --regexp-ignore-case --merges --no-merges --first-parent
	--reverse --follow --topo-order --date-order --author-date-order --pretty:?s --format:=s --date:s --full-history
	--simplify-by-decoration --left-right --cherry-pick --cherry-mark --cherry --no-walk --merge-base --source
	--notes:?s --no-notes --parents --children --boundary --walk-reflogs --ancestry-path --cc --full-diff`

// gitCommand is a subcommand of git that reads only.
type gitCommand struct {
	options  string
	operands operands
	digits   bool
	patches  bool // it may show differences, so what git would start for that is switched off
}

// operands says what the words are that are no options.
type operands int

const (
	pathspecs operands = iota // paths and patterns
	revisions                 // revisions, then paths
	patterns                  // patterns, and only with --list or -l
	oneStash                  // at most one stash
	nothing
)

var gitCommands = map[string]gitCommand{
	"status": {options: `
		-sbz -u:?no|normal|all --short --branch --porcelain:?v1|v2|1|2 --long --untracked-files:?no|normal|all
		--ignored:?traditional|no|matching --ahead-behind --no-ahead-behind --renames --no-renames --find-renames:?n
		--show-stash --ignore-submodules:?none|untracked|dirty|all --column:?s --no-column`},
	"diff": {options: diffOptions + ` --staged --cached --merge-base`, operands: revisions, patches: true},
	"log":  {options: diffOptions + logOptions, operands: revisions, digits: true, patches: true},
	"show": {options: diffOptions + logOptions, operands: revisions, digits: true, patches: true},
	"branch": {options: `
		-arvli --all --remotes --verbose --list --show-current --contains:?s --no-contains:?s --merged:?s --no-merged:?s
		--points-at:s --sort:s --format:=s --abbrev:?n --no-abbrev --color:=never|auto --no-color --column:?s --no-column
		--ignore-case`,
		operands: patterns},
	"ls-files": {options: `
		-cdmosuztikv -x:s --cached --deleted --modified --others --stage --unmerged --ignored --killed --exclude-standard
		--exclude:s --directory --no-empty-directory --full-name --error-unmatch --abbrev:?n --eol --deduplicate`},
	"stash list": {options: logOptions, digits: true, operands: nothing, patches: true},
	"stash show": {options: diffOptions + ` --include-untracked --only-untracked`, operands: oneStash, patches: true},
}
