// Package runner starts the programs that a reply asks for, and decides which may be started at all.
//
// Two things are kept apart. Judging (policy.go, builtins.go, find.go, gitcommand.go, approvals.go) is about text: which
// class a command belongs to, and what its options and operands may be. Running (run.go, supervise.go, confine_*.go) is
// about processes: none of them sees the terminal or our standard input, outlives its task, or writes more than is kept.
//
//	allowed, refusal := policy.Judge(command)
//	outcome := runner.Run(ctx, allowed.Program)
//
// A program is not started by this process itself but by a supervisor, which is this binary again (see Supervise): a
// session leader without terminal, that adopts what the program leaves behind and ends it, also when this process dies.
//
//	git-clada ── supervisor ── [confined: Landlock and limits, then exec] ── program ── whatever it starts
package runner
