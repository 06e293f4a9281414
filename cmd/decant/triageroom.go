package main

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/internal/pace"
	"github.com/decantdev/decant/internal/standin/services"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/mask"
	"github.com/decantdev/decant/provider"
)

// triageFlags are what all commands about triage have.
type triageFlags struct {
	Config  string   `default:".decant/triage.yaml" placeholder:"FILE" help:"Settings, as decant triage init writes them (${default})."`
	Model   string   `placeholder:"ID" help:"Model (${model})."`
	Repo    []string `sep:"none" placeholder:"[NAME=]DIR" help:"Clone of a repository whose code runs (those of the settings, or the one here). May be repeated."`
	Sandbox bool     `help:"Investigate with a stand-in for a model, which knows a few kinds of mistakes. It needs no key and nothing leaves this machine."`
	DB      string   `name:"db" placeholder:"FILE" help:"Database file (or DECANT_DB). Default: the one that the gateway uses; with --sandbox none is kept."`
	keyFileFlag
	catalogFlag

	getenv func(string) string // the environment of services that are played; nil: that of the process
	acted  *services.Server    // services that are played; nil: there are none
}

// variable returns a variable of the environment.
func (f *triageFlags) variable(name string) string {
	if f.getenv != nil {
		return f.getenv(name)
	}
	return key(name)
}

// A triageRoom is what commands about triage work with.
type triageRoom struct {
	db      *embedded.DB
	reader  *code.Reader
	model   string
	client  provider.Speaker // of the model
	masker  mask.Masker
	set     *triage.Settings
	pacer   *pace.Pacer // that all calls of the run go through
	options triage.Options
	tools   []agent.Tool // of MCP servers
	notices []string     // what is to be known of the run
	clean   []func() error

	variable func(string) string // of the environment

	batches func(*triage.Batch) (triage.BatchOptions, error) // of runs in batches
}

// close ends what was begun.
func (r *triageRoom) close() error { return ended(r.clean) }

// settings returns what the settings file and the environment say, and what the command line says, which is stronger.
func (f *triageFlags) settings() (*triage.Settings, error) {
	s, err := triage.ReadSettings(f.Config, os.Getenv)
	if err != nil {
		return nil, inputError{err}
	}
	s.Model = cmp.Or(f.Model, s.Model)
	s.Fill()
	return s, nil
}

// interruptible returns a context that ends with an interrupt.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}
