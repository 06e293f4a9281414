// Package triagecmd is the command decant triage: errors of programs collected, investigated and reported.
package triagecmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/trust"
	"github.com/decantdev/decant/store"
)

// Command is the command line of decant triage.
type Command struct {
	Run         runCmd         `cmd:"" help:"Collect recent errors, investigate the most important ones, and print a report."`
	Plan        planCmd        `cmd:"" help:"Estimate what a run would cost, at once and in batches. Sends nothing."`
	Runs        runsCmd        `cmd:"" help:"List the runs, or print the report of one, or the evidence of one finding."`
	Investigate investigateCmd `cmd:"" help:"Investigate one error: a stack trace from a file, an address, or standard input."`
	Ask         askCmd         `cmd:"" help:"Ask the agent that investigated an error a question."`
	Feedback    feedbackCmd    `cmd:"" help:"Tell later runs whether a finding was right or wrong."`
	Deliver     deliverCmd     `cmd:"" help:"Send the findings of a run to Slack and GitHub, unless they were sent before."`
	Init        initCmd        `cmd:"" help:"Write settings for this project."`
	Doctor      doctorCmd      `cmd:"" help:"Check every source, repository and credential, and print how to fix what fails."`
}

// New returns the command line, with what its flag --sandbox uses in place of the world.
func New(in Sandbox) (c Command) {
	for _, f := range []*flags{
		&c.Run.flags, &c.Plan.flags, &c.Runs.flags, &c.Investigate.flags, &c.Ask.flags, &c.Feedback.flags, &c.Deliver.flags, &c.Init.flags, &c.Doctor.flags,
	} {
		f.sandbox = in
	}
	return c
}

// A Sandbox is what the flag --sandbox uses in place of the world.
type Sandbox struct {
	// Sample returns what a run looks at where the user names no errors.
	Sample func(s *process.Process) (*Sample, error)

	// StandIn has a chat talk to a stand-in for a model. The stand-in keeps batches in the folder of this name; empty: it
	// forgets them. The function that it returns ends the stand-in.
	StandIn func(o *chat.Options, batches string) (end func() error, err error)
}

// A Sample is made of errors of some services, and the code that had them.
type Sample struct {
	Now      time.Time // at which it is looked at
	Source   source.Source
	Services map[string]string // name of the repository of each service
	Repos    []code.Repo
	Runbooks []code.Runbook
}

// flags are the flags that all commands of triage have.
type flags struct {
	Config  string   `placeholder:"FILE" help:"Settings file (.decant/triage.yaml). A file in a repository needs decant trust."`
	Model   string   `placeholder:"ID" help:"Model (${model})."`
	Repo    []string `sep:"none" placeholder:"[NAME=]DIR" help:"Clone of a repository whose code runs (those of the settings, or the one here). May be repeated."`
	Sandbox bool     `help:"Use a stand-in for the model, with recorded answers. Needs no key; nothing leaves this machine."`
	DB      string   `name:"db" placeholder:"FILE" help:"Database file (or DECANT_DB). Default: the gateway's; with --sandbox a temporary one."`
	command.KeyFileFlag
	command.CatalogFlag

	sandbox Sandbox
}

// SettingsFile is the name of the settings file, with slashes, from the folder in which a command runs.
const SettingsFile = ".decant/triage.yaml"

// file returns the name of the settings file.
func (f *flags) file() string { return cmp.Or(f.Config, filepath.FromSlash(SettingsFile)) }

// settings returns the settings of the file, the environment and the command line, where the later ones win. A file that
// is not the user's own counts only after decant trust, and so do the MCP servers that it names.
func (f *flags) settings(s *process.Process) (*triage.Settings, error) {
	file, err := trust.Read(s.Path(f.file()))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Input(err)
	}
	src := triage.File{Name: s.Path(f.file()), Own: true}
	if file != nil {
		src.Data, src.Own = file.Data, f.Config != "" && trust.Own(s, s.Path(f.Config))
		if err := trust.Ask(s, file, src.Own, cmp.Or(f.Config, ".")); err != nil {
			return nil, err
		}
	}
	set, err := triage.ReadSettings(src, s)
	if err != nil {
		return nil, exit.Input(err)
	}
	if name := set.MCP.File; name != "" {
		servers, err := trust.Read(name)
		if err != nil {
			return nil, exit.Input(fmt.Errorf("mcp: %w", err))
		}
		if err := trust.Ask(s, servers, src.Own && trust.Own(s, name), name); err != nil {
			return nil, err
		}
		set.MCP.Data = servers.Data
	}
	set.Model = cmp.Or(f.Model, set.Model)
	set.Fill()
	return set, nil
}

// numbered splits a name such as RUN#2. An empty run is the newest one.
func numbered(name string) (run string, n int, err error) {
	run, digits, ok := strings.Cut(name, "#")
	if _, err := fmt.Sscanf(digits, "%d", &n); !ok || err != nil || n < 1 {
		return "", 0, exit.Usage(fmt.Errorf("%q names no error of a run: write RUN#2, or last#2", name))
	}
	return latest(run), n, nil
}

// latest returns the name of a run as triage.Open takes it.
func latest(run string) string {
	if run == "last" {
		return ""
	}
	return run
}

// noRun makes an error about a missing run an error of the input.
func noRun(err error) error {
	if errors.Is(err, triage.ErrNoRun) || errors.Is(err, triage.ErrUnknown) || errors.Is(err, store.ErrNotFound) {
		return exit.Input(fmt.Errorf("%w (decant triage runs lists them; with --sandbox, name its --db FILE)", err))
	}
	return err
}
