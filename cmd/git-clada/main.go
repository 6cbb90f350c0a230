// Command git-clada is the process edge of git clada: arguments, streams, signals, environment, clock and exit status.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/git-clada/git-clada/internal/runner"
)

// toolVersion is set by the build.
var toolVersion = "0.1.0-dev"

func main() {
	if status, is := runner.Helper(os.Args); is {
		os.Exit(status)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	status := run(ctx, os.Args, edge{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ(), now: time.Now})
	stop()
	os.Exit(status)
}
