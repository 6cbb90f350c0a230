// Command git-clada is the process edge of git clada: arguments, streams, signals, environment, clock and exit status.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// toolVersion is set by the build.
var toolVersion = "0.1.0-dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args, edge{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ(), now: time.Now})
	stop()
	os.Exit(status)
}
