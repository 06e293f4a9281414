package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/apps/triage/triagecmd"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/userdir"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/analyst"
	"github.com/decantdev/decant/testing/sample"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/standin/services"
)

type triageCmd struct {
	triagecmd.Command
	Sandbox triageSandboxCmd `cmd:"" help:"Serve stand-ins for New Relic, Sentry, GitHub, Slack and a model, with a sample's errors and code."`
}

type triageSandboxCmd struct {
	Listen   string `default:"127.0.0.1:4150" placeholder:"ADDR" help:"Address to listen on; port 0 is any free port (${default})."`
	Settings string `placeholder:"FILE" help:"Write settings for decant triage there, which name the services. An existing file is not changed."`
}

// Help describes what the flags do not.
func (c *triageSandboxCmd) Help() string {
	return `Example:

    decant triage sandbox --settings .decant/triage.yaml

It prints the environment variables for another terminal, where decant triage doctor and decant triage run then work as with the real services. What was
posted to Slack is at /slack.`
}

// Run serves stand-ins for New Relic, Sentry, GitHub, Slack and a model until it is interrupted.
func (c *triageSandboxCmd) Run(s *process.Process) error {
	taken, err := sample.Bundled()
	if err != nil {
		return err
	}
	base, stop, err := serveSample(s, taken, c.Listen)
	if err != nil {
		return err
	}
	defer stop()
	if c.Settings != "" {
		if err := triagecmd.WriteSettings(s, c.Settings, services.Settings(taken)); err != nil {
			return exit.Input(err)
		}
	}
	fmt.Fprintf(s.Out, "# Stand-ins for New Relic, Sentry, GitHub, Slack and a model listen on %s. In another terminal:\n", base)
	for _, v := range services.Environment(base) {
		fmt.Fprintf(s.Out, "export %s\n", v)
	}
	if c.Settings == "" {
		fmt.Fprintf(s.Out, "# Settings for decant triage (--settings FILE writes them):\n%s", services.Settings(taken))
	}
	since := taken.Now.AddDate(0, 0, -30).Format(time.DateOnly)
	fmt.Fprintf(s.Out, "# The errors are those of the days before %s: decant triage run --since %s\n", taken.Now.Format(time.DateOnly), since)
	fmt.Fprintf(s.Out, "# What was posted to Slack: %s/slack\n", base)
	ctx, end := s.Context()
	defer end()
	<-ctx.Done()
	return nil
}

// serveSample serves the services of a sample. It returns their base URL, and a function that ends them.
func serveSample(s *process.Process, taken *sample.Sample, address string) (base string, stop func() error, err error) {
	dir, err := sampleFolder(s)
	if err != nil {
		return "", nil, err
	}
	server, err := services.New(services.Options{Sample: taken, Dir: dir, Model: analyst.Analyst{}})
	if err != nil {
		return "", nil, exit.Input(err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, err
	}
	web := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- web.Serve(l) }()
	return "http://" + l.Addr().String(), func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err := cmp.Or(web.Shutdown(ctx), web.Close())
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}

// sampleFolder returns the folder for the repositories of the sample.
func sampleFolder(s *process.Process) (string, error) {
	dir, err := userdir.Cache(s.Getenv)
	return filepath.Join(dir, "samples"), err
}

// triageSample returns the sample that is part of the program. It makes the repositories, unless they were made before.
func triageSample(s *process.Process) (*triagecmd.Sample, error) {
	taken, err := sample.Bundled()
	if err != nil {
		return nil, err
	}
	dir, err := sampleFolder(s)
	if err != nil {
		return nil, err
	}
	out := &triagecmd.Sample{Now: taken.Now, Source: taken.Source(), Services: taken.Services()}
	if out.Repos, err = taken.Repos(dir); err != nil {
		return nil, exit.Input(err)
	}
	if out.Runbooks, err = taken.Runbooks(); err != nil {
		return nil, exit.Input(err)
	}
	return out, nil
}

// triageStandIn has triage talk to a stand-in, which answers from recordings.
func triageStandIn(o *chat.Options, batches string) (func() error, error) {
	client, stop, err := withinOptions(sandbox.Options{Model: analyst.Analyst{}, Batches: batches})
	if err != nil {
		return nil, err
	}
	o.Client, o.Account = client, &provider.Account{Client: client, Upstream: standBase}
	return func() error { stop(); return nil }, nil
}
