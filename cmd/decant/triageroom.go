package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/chat"
	"github.com/decantdev/decant/internal/pace"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/analyst"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/investigate"
	"github.com/decantdev/decant/internal/triage/layer"
	"github.com/decantdev/decant/internal/triage/mask"
	"github.com/decantdev/decant/internal/triage/sample"
	"github.com/decantdev/decant/internal/triage/source"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/sandbox"
	"github.com/decantdev/decant/token"
)

// triageFlags are what all commands about triage have.
type triageFlags struct {
	Config  string   `default:".decant/triage.yaml" placeholder:"FILE" help:"Settings, as decant triage init writes them (${default})."`
	Model   string   `placeholder:"ID" help:"Model (claude-sonnet-4-5)."`
	Repo    []string `sep:"none" placeholder:"[NAME=]DIR" help:"Clone of a repository whose code runs (those of the settings, or the one here). May be repeated."`
	Sandbox bool     `help:"Investigate with a stand-in for a model, which knows a few kinds of mistakes. It needs no key and nothing leaves this machine."`
	DB      string   `name:"db" placeholder:"FILE" help:"Database file (or DECANT_DB). Default: the one that the gateway uses; with --sandbox none is kept."`
	keyFileFlag
	catalogFlag

	getenv func(string) string // the environment of services that are played; nil: that of the process
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
	masker  mask.Masker
	set     *triage.Settings
	pacer   *pace.Pacer // that all calls of the run go through
	options triage.Options
	tools   []agent.Tool // of MCP servers
	notices []string     // what is to be known of the run
	clean   []func() error

	batches func(*triage.Batch) (triage.BatchOptions, error) // of runs in batches
}

// close ends what was begun.
func (r *triageRoom) close() error { return ended(r.clean) }

// open opens the database and the repositories and, where talks is set, finds out which model there is. The caller closes what it returns, also beside
// an error.
func (f *triageFlags) open(ctx context.Context, taken *sample.Sample, set *triage.Settings, talks bool) (*triageRoom, error) {
	r := &triageRoom{set: set, pacer: pace.New(pace.Options{})}
	source.Through(r.pacer, set.Sources...)
	o := &chat.Options{Project: &project.Project{}}
	o.Project.Settings.Model = set.Model
	var err error
	if o.Catalog, err = f.models(); err != nil {
		return r, err
	}
	if talks {
		if err := r.talk(o, f.Sandbox, f.keptBatches()); err != nil {
			return r, err
		}
	}
	if err := f.store(ctx, r, o); err != nil {
		return r, err
	}
	if r.reader, err = f.reader(taken, r); err != nil {
		return r, err
	}
	if talks {
		if err := r.serve(ctx); err != nil {
			return r, err
		}
	}
	return r, r.arrange(o)
}

// store opens the database.
func (f *triageFlags) store(ctx context.Context, r *triageRoom, o *chat.Options) error {
	remove, err := (&chatCmd{Sandbox: f.Sandbox, DB: f.DB, keyFileFlag: f.keyFileFlag}).database(o)
	if remove != nil {
		r.clean = append(r.clean, remove)
	}
	if err != nil {
		return err
	}
	if r.db, err = embedded.Open(ctx, o.DB, &embedded.Options{Account: o.Account, Store: o.Store, Engine: engine.Options{Catalog: o.Catalog}}); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	r.clean = append(r.clean, r.db.Close)
	return nil
}

// talk finds out which model there is.
func (r *triageRoom) talk(o *chat.Options, sandboxed bool, kept string) error {
	if !sandboxed {
		end, err := talkTo(o, false, r.pacer)
		if end != nil {
			r.clean = append(r.clean, end)
		}
		if err == nil {
			r.model = o.Model
		}
		if errors.Is(err, errNoModel) {
			err = usageError{errors.New("there is no key for a model. Either set ANTHROPIC_API_KEY (or OPENAI_API_KEY, or OPENAI_BASE_URL with --model), or look at what there is without one: --dry-run, or --sandbox")}
		}
		return err
	}
	client, stop, err := withinOptions(sandbox.Options{Model: analyst.Analyst{}, Batches: kept})
	if err != nil {
		return err
	}
	r.clean = append(r.clean, func() error { stop(); return nil })
	if o.Project.Settings.Model == "" {
		o.Project.Settings.Model = defaultModel
	}
	r.model, o.Model, o.Client = o.Project.Settings.Model, o.Project.Settings.Model, client
	o.Account = &provider.Account{Client: client, Upstream: standBase, Model: o.Model}
	return nil
}

// arrange says how runs work.
func (r *triageRoom) arrange(o *chat.Options) error {
	p, err := preset.Load("night-watch")
	if err != nil {
		return err
	}
	r.options = triage.Options{Journals: r.db.Store(), Code: r.reader, Parallel: r.set.Parallel}
	with := investigate.Options{Client: o.Client, Model: r.model, Engine: r.db.Engine(), Journals: r.db.Store(), Preset: p, Code: r.reader, Tools: r.tools,
		Budget: r.set.PerError, Allowance: agent.NewAllowance(agent.Budget{Tokens: r.set.PerRun}), Thinking: r.set.Thinking, LongFixed: o.Client != nil && longCache(o.Catalog, r.model), Off: r.set.Off, Catalog: o.Catalog}
	r.options.Investigator = investigate.New(with)
	r.batches = func(b *triage.Batch) (triage.BatchOptions, error) { return r.inBatches(o, with, b) }
	return nil
}

// longCache reports whether a provider keeps for an hour what it is asked to: what all investigations of a run begin with, since the limits of a
// provider may put minutes between them. The messages of one follow each other closely, and an hour of them would cost more than it brings.
func longCache(c *token.Catalog, model string) bool {
	m, known := c.Lookup(model)
	return known && m.Provider == token.Anthropic
}

// reader returns the repositories: those of a sample, those that are named, those of the settings, or the one here.
func (f *triageFlags) reader(taken *sample.Sample, room *triageRoom) (*code.Reader, error) {
	if taken != nil {
		dir, err := samples()
		if err != nil {
			return nil, err
		}
		repos, err := taken.Repos(dir)
		if err != nil {
			return nil, inputError{err}
		}
		return f.read(room, repos)
	}
	var repos []code.Repo
	for _, text := range f.Repo {
		name, dir, named := strings.Cut(text, "=")
		if !named {
			name, dir = "", text
		}
		if dir = cloneOf(dir); dir == "" {
			return nil, inputError{fmt.Errorf("--repo %s: it is no git repository", text)}
		}
		if name == "" {
			name = filepath.Base(dir)
		}
		repos = append(repos, code.Repo{Name: name, Dir: dir})
	}
	if len(f.Repo) == 0 {
		repos = room.set.Repos
	}
	if len(repos) == 0 {
		if dir := cloneOf("."); dir != "" {
			repos = append(repos, code.Repo{Name: filepath.Base(dir), Dir: dir})
		}
	}
	if len(repos) == 0 {
		return nil, usageError{errors.New("name a clone of the repository whose code runs: --repo DIR")}
	}
	return f.read(room, repos)
}

// samples returns the folder in which the repositories of samples are made.
func samples() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for what can be made again: %w", err)
	}
	return filepath.Join(dir, "decant", "samples"), nil
}

// read returns a reader of repositories.
func (f *triageFlags) read(r *triageRoom, repos []code.Repo) (*code.Reader, error) {
	o := code.Options{Repos: repos, Mask: r.masker.Code, Whole: !r.set.Off.On(layer.Caps), Cache: code.NewCache(code.CacheOptions{Off: !r.set.Off.On(layer.CodeCache)})}
	if token := cmp.Or(f.variable("GITHUB_TOKEN"), f.variable("GH_TOKEN")); token != "" {
		var err error
		if o.GitHub, err = code.GitHub(token, f.variable("GITHUB_API_URL"), r.pacer); err != nil {
			return nil, usageError{err}
		}
	}
	reader, err := code.New(o)
	if err != nil {
		return nil, inputError{err}
	}
	return reader, nil
}

// cloneOf returns the top folder of the repository that a folder is in; empty: it is in none.
func cloneOf(dir string) string {
	out, err := exec.Command("git", "-C", dir, "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

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
