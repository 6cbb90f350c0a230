package apply

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-clada/git-clada/internal/batch"
	"github.com/git-clada/git-clada/internal/diag"
)

// resolve turns a path of a reply into a path of the tree, or says why it may not be used at all. dir is the directory
// that relative paths start from.
func (o *Options) resolve(raw, dir string) (batch.Path, *diag.Error) {
	if raw == "" {
		return "", diag.New(diag.InvalidArgument, "the path is empty")
	}
	if i := strings.IndexAny(raw, "\x00\n\r"); i >= 0 {
		return "", diag.New(diag.PermissionDenied, "a path may not contain NUL or line ends").In(raw)
	}
	p := raw
	switch {
	case path.IsAbs(raw):
		below, ok := o.belowTop(raw)
		if !ok {
			return "", escape(raw).WithHint("paths are relative to the top of the working tree").With("absolute path")
		}
		p = below
	case isWindowsAbsolute(raw):
		return "", escape(raw).WithHint("paths are relative to the top of the working tree, with /").With("absolute path")
	default:
		p = path.Join(dir, raw)
	}
	p = path.Clean(p)
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", escape(raw)
	}
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > 255 {
			return "", diag.New(diag.InvalidArgument, "a name is %d bytes long, at most 255 are possible", len(part)).In(part[:60] + "...")
		}
		if reserved(part, ".git", "git~1") {
			return "", diag.New(diag.PathEscape, "%s is inside .git", raw).In(raw).WithHint("a reply may not touch git's own files")
		}
	}
	return batch.Path(p), nil
}

func escape(raw string) *diag.Error {
	return diag.New(diag.PathEscape, "%s is outside the working tree", raw).In(raw).With("", "written", raw)
}

// belowTop makes an absolute path relative to the top.
func (o *Options) belowTop(raw string) (string, bool) {
	clean := path.Clean(raw)
	for _, top := range []string{o.TopDir, o.Root} {
		if top == "" {
			continue
		}
		top = path.Clean(top)
		if clean == top {
			return ".", true
		}
		if rest, ok := strings.CutPrefix(clean, strings.TrimSuffix(top, "/")+"/"); ok {
			return rest, true
		}
	}
	return "", false
}

func isWindowsAbsolute(p string) bool {
	if strings.HasPrefix(p, `\\`) {
		return true
	}
	return len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// reserved reports whether a path component is name in any spelling that some file system takes for it: another case,
// the short name of NTFS, trailing dots and blanks or a stream behind it, or with code points that HFS+ ignores.
// The rules are those of git's verify_path.
func reserved(part, name, short string) bool {
	if len(part) < len(name)-1 {
		return false
	}
	fold := strings.ToLower(stripIgnorable(part))
	if fold == name {
		return true
	}
	fold = strings.ToLower(part)
	if i := strings.IndexByte(fold, ':'); i >= 0 {
		fold = fold[:i]
	}
	if i := strings.IndexByte(fold, '\\'); i >= 0 {
		fold = fold[:i]
	}
	fold = strings.TrimRight(fold, ". ")
	return fold == name || (short != "" && fold == short)
}

// stripIgnorable drops the code points that HFS+ ignores in names.
func stripIgnorable(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, s)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// guardWrite refuses paths that no reply may write: the top itself, the tool's own files, .gitmodules, and what the
// caller protects.
func (o *Options) guardWrite(p batch.Path) *diag.Error {
	if p == "." {
		return diag.New(diag.PermissionDenied, "the top of the working tree cannot be changed as a whole").In(".").With("the top")
	}
	first, _, _ := strings.Cut(string(p), "/")
	switch {
	case reserved(first, ".clada", ""):
		return denied(p, "%s belongs to git clada; a reply may not change it", p)
	case reserved(path.Base(string(p)), ".gitmodules", "gitmod~1"):
		return denied(p, "%s tells git where to fetch code from; a reply may not change it", p)
	}
	if o.Guard != nil {
		return o.Guard(p)
	}
	return nil
}

func denied(p batch.Path, format string, args ...any) *diag.Error {
	return diag.New(diag.PermissionDenied, format, args...).In(string(p)).With("protected")
}

// checkNewName refuses names that could not be stored or would deceive a reader.
func checkNewName(p batch.Path) *diag.Error {
	if !utf8.ValidString(string(p)) {
		return diag.New(diag.InvalidUTF8, "a new name must be UTF-8").In(string(p))
	}
	if len(p) > 4000 {
		return diag.New(diag.InvalidArgument, "the path is %d bytes long, at most 4000 are possible", len(p)).In(string(p[:60]) + "...")
	}
	for _, r := range string(p) {
		if Invisible(r) || unicode.Is(unicode.Noncharacter_Code_Point, r) {
			return denied(p, "a new name may not contain the invisible character %U", r)
		}
	}
	return nil
}

// Invisible reports whether a character can hide or reorder text: control characters, bidirectional overrides and
// zero-width characters.
func Invisible(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r == 0x061c:
		return true
	case r >= 0xe0000 && r <= 0xe007f, r == 0x2028, r == 0x2029:
		return true
	}
	return false
}
