package diag

// Code names a kind of failure. Codes are public, stable and snake_case.
type Code string

// The codes. Each is explained, with an example that a test runs, in Pages.
const (
	MatchCountMismatch    Code = "match_count_mismatch"
	FileNotFound          Code = "file_not_found"
	FileExists            Code = "file_exists"
	IsDirectory           Code = "is_directory"
	NotDirectory          Code = "not_directory"
	DirectoryNotEmpty     Code = "directory_not_empty"
	PermissionDenied      Code = "permission_denied"
	SymlinkNotAllowed     Code = "symlink_not_allowed"
	PathEscape            Code = "path_escape"
	BinaryFile            Code = "binary_file"
	FileTooLarge          Code = "file_too_large"
	InvalidUTF8           Code = "invalid_utf8"
	ExecTimeout           Code = "exec_timeout"
	ExecFailed            Code = "exec_failed"
	CommandNotAllowed     Code = "command_not_allowed"
	MalformedStructure    Code = "malformed_structure"
	MalformedXML          Code = "malformed_xml"
	InvalidArgument       Code = "invalid_argument"
	InputTooLarge         Code = "input_too_large"
	ExternalModification  Code = "external_modification"
	GitOperationFailed    Code = "git_operation_failed"
	UnsupportedRepository Code = "unsupported_repository"
	LockTimeout           Code = "lock_timeout"
	Interrupted           Code = "interrupted"
	SyntaxCheckFailed     Code = "syntax_check_failed"
)

// Fatal reports whether the code means "cannot work here" (exit status 128) rather than "something failed" (1).
func (c Code) Fatal() bool {
	switch c {
	case GitOperationFailed, UnsupportedRepository, LockTimeout, Interrupted:
		return true
	}
	return false
}
