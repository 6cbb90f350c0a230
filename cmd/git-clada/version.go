package main

import (
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/git-clada/git-clada/internal/parse"
	"github.com/git-clada/git-clada/internal/repo"
	"github.com/git-clada/git-clada/internal/report"
)

func versionCommand(e *edge) *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "say which versions are at work", Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			s, err := newSession(e, c)
			if err != nil {
				return err
			}
			if err := s.noArguments(); err != nil {
				return err
			}
			gitVersion := make(chan string, 1)
			go func() { gitVersion <- repo.Version(s.ctx, s.env) }()
			v := map[string]any{
				"version": toolVersion, "goGit": moduleVersion("github.com/go-git/go-git/v5"),
				"go": runtime.Version(), "dialects": parse.Dialects(),
			}
			if err := s.open(); err == nil {
				defer s.repo.Close()
				v["repository"] = s.repo.Top
			} else if refusal := fatal(err); refusal != nil {
				v["notHere"] = refusal.Message
			}
			v["git"] = <-gitVersion
			if c.Bool("json") {
				return report.Encode(s.out, v)
			}
			s.printf("git clada %s\ngit %s, go-git %s, %s\ndialects: %v\n", toolVersion, v["git"], v["goGit"], v["go"], v["dialects"])
			if top, ok := v["repository"]; ok {
				s.printf("repository: %s (supported)\n", top)
			} else {
				s.printf("repository: none that can be worked in (%s)\n", v["notHere"])
			}
			return nil
		},
	}
}

func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}
