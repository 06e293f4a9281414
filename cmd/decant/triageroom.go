package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/internal/pace"
	"github.com/decantdev/decant/internal/standin/services"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/mask"
	"github.com/decantdev/decant/internal/trust"
	"github.com/decantdev/decant/provider"
)

// triageFlags are what all commands about triage have.
type triageFlags struct {
	Config  string   `placeholder:"FILE" help:"Settings, as decant triage init writes them (.decant/triage.yaml, which decant trust has to know)."`
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
	faults  []error      // likewise, with what programs have printed
	clean   []func() error

	variable func(string) string // of the environment

	batches func(*triage.Batch) (triage.BatchOptions, error) // of runs in batches
}

// close ends what was begun.
func (r *triageRoom) close() error { return ended(r.clean) }

// gather reads the sources. What programs have printed about their failure is told here, and in no report.
func (r *triageRoom) gather(ctx context.Context, s *streams, look *triage.Look) (*triage.Seen, error) {
	for _, fault := range r.faults {
		s.warn(fault)
	}
	seen, err := triage.Gather(ctx, r.options, look)
	if err != nil {
		return nil, inputError{err}
	}
	for _, fault := range seen.Faults {
		s.warn(fault)
	}
	seen.Notices = append(seen.Notices, r.notices...)
	return seen, nil
}

// triageSettings is the file with the settings of triage, from the folder where it is run.
const triageSettings = ".decant/triage.yaml"

// file returns the name of the settings file.
func (f *triageFlags) file() string { return cmp.Or(f.Config, filepath.FromSlash(triageSettings)) }

// settings returns what the settings file and the environment say, and what the command line says, which is stronger. A
// file that is not the user's own says something only after the user has said yes to it, and so do the MCP servers that
// it names.
func (f *triageFlags) settings(s *streams) (*triage.Settings, error) {
	file, err := trust.Read(f.file())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, inputError{err}
	}
	src := triage.File{Name: f.file(), Own: true}
	if file != nil {
		src.Data, src.Own = file.Data, f.Config != "" && own(f.Config)
		if err := s.vouched(file, src.Own, cmp.Or(f.Config, ".")); err != nil {
			return nil, err
		}
	}
	set, err := triage.ReadSettings(src, os.Getenv)
	if err != nil {
		return nil, inputError{err}
	}
	if name := set.MCP.File; name != "" {
		servers, err := trust.Read(name)
		if err != nil {
			return nil, inputError{fmt.Errorf("mcp: %w", err)}
		}
		if err := s.vouched(servers, src.Own && own(name), name); err != nil {
			return nil, err
		}
		set.MCP.Data = servers.Data
	}
	set.Model = cmp.Or(f.Model, set.Model)
	set.Fill()
	return set, nil
}

// interruptible returns a context that ends with an interrupt.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}
