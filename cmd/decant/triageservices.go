package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/standin/services"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/analyst"
	"github.com/decantdev/decant/internal/triage/deliver"
	"github.com/decantdev/decant/internal/triage/sample"
	"github.com/decantdev/decant/internal/triage/source"
	"github.com/decantdev/decant/provider/sandbox"
)

type triageSandboxCmd struct {
	Listen   string `default:"127.0.0.1:4150" placeholder:"ADDR" help:"Address to listen on; port 0 means any free port (${default})."`
	Sample   string `placeholder:"DIR" help:"The sample whose errors and repositories the services have (the one in this program)."`
	Settings string `placeholder:"FILE" help:"Write settings for decant triage there, which name the services. What is there already is not changed."`
}

// Run serves stand-ins for New Relic, Sentry, GitHub, Slack and a model until it is told to stop.
func (c *triageSandboxCmd) Run(s *streams) error {
	taken, err := sample.Bundled()
	if c.Sample != "" {
		taken, err = sample.Open(c.Sample)
	}
	if err != nil {
		return inputError{err}
	}
	_, base, stop, err := served(taken, c.Listen, analyst.Analyst{})
	if err != nil {
		return err
	}
	defer stop()
	if c.Settings != "" {
		if err := writeNew(c.Settings, services.Settings(taken)); err != nil {
			return inputError{err}
		}
		if err := trustWritten(c.Settings); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.out, "# New Relic, Sentry, GitHub, Slack and a model, all of them stand-ins, listen on %s. In another terminal:\n", base)
	for _, v := range services.Environment(base) {
		fmt.Fprintf(s.out, "export %s\n", v)
	}
	if c.Settings == "" {
		fmt.Fprintf(s.out, "# Settings for decant triage (--settings FILE writes them):\n%s", services.Settings(taken))
	}
	fmt.Fprintf(s.out, "# The errors are those of the days before %s: decant triage run --since %s\n", taken.Now.Format(time.DateOnly), taken.Now.AddDate(0, 0, -30).Format(time.DateOnly))
	fmt.Fprintf(s.out, "# What was posted in Slack: %s/slack\n", base)
	ctx, end := interruptible()
	defer end()
	<-ctx.Done()
	return nil
}

// writeNew writes a file that must not be there yet, and makes its folder.
func writeNew(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// served serves the services of a sample, and returns them with their base URL and what ends them. m may be nil.
func served(taken *sample.Sample, address string, m sandbox.Model) (server *services.Server, base string, stop func() error, err error) {
	dir, err := samples()
	if err != nil {
		return nil, "", nil, err
	}
	if server, err = services.New(services.Options{Sample: taken, Dir: dir, Model: m}); err != nil {
		return nil, "", nil, inputError{err}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, "", nil, err
	}
	web := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- web.Serve(l) }()
	return server, "http://" + l.Addr().String(), func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err := cmp.Or(web.Shutdown(ctx), web.Close())
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}

// play makes settings those of the services of a sample, which are served until the function that it returns is called.
func (c *triageFlags) play(taken *sample.Sample, set *triage.Settings) (func() error, error) {
	if taken == nil {
		return nil, usageError{errors.New("--services plays the services of a sample: say --sandbox, or --sample DIR, and name no files")}
	}
	server, base, stop, err := served(taken, "127.0.0.1:0", nil)
	if err != nil {
		return nil, err
	}
	c.acted = server
	known := map[string]string{}
	for _, v := range services.Environment(base) {
		name, value, _ := strings.Cut(v, "=")
		known[name] = value
	}
	c.getenv = func(name string) string { return known[name] }
	set.Repos, set.Services = taken.Mapped(), taken.Services()
	if set.Sources, err = source.Read("services", []byte(services.Settings(taken)), true, c.getenv); err != nil {
		return stop, err
	}
	set.Deliver = deliver.Settings{Slack: deliver.SlackSettings{Channel: services.Channel}}
	set.Runbooks, err = taken.Runbooks()
	return stop, err
}
