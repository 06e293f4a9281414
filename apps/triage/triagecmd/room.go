package triagecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/apps/chat/chatcmd"
	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/apps/triage/internal/mask"
	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/pace"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/internal/trust"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// A workroom is what commands of triage work with.
type workroom struct {
	db      *embedded.DB
	reader  *code.Reader
	model   string
	client  provider.Speaker // of the model
	masker  mask.Masker
	set     *triage.Settings
	pacer   *pace.Pacer // through which all calls of the run go
	options triage.Options
	tools   []agent.Tool // of MCP servers
	notices []string     // for the report
	faults  []error      // for standard error only: they may quote what programs have printed
	clean   []func() error
}

// close releases what was opened.
func (r *workroom) close() error { return command.End(r.clean) }

// open opens the database and the repositories and, if talks is set, the way to a model. taken is the sample whose code is
// read; nil: the repositories of the settings. The caller closes the room, also after an error.
func (f *flags) open(ctx context.Context, s *process.Process, taken *Sample, set *triage.Settings, talks bool) (*workroom, error) {
	r := &workroom{set: set, pacer: pace.New(pace.Options{})}
	source.Through(r.pacer, set.Sources...)
	o := &chat.Options{Project: &project.Project{}}
	o.Project.Settings.Model = set.Model
	var err error
	if o.Catalog, err = f.Models(s); err != nil {
		return r, err
	}
	if talks {
		if err := f.talk(s, r, o); err != nil {
			return r, err
		}
	}
	if err := f.store(ctx, s, r, o); err != nil {
		return r, err
	}
	if r.reader, err = f.reader(s, taken, r); err != nil {
		return r, err
	}
	if talks {
		if err := r.serve(ctx, s); err != nil {
			return r, err
		}
	}
	return r, r.arrange(s, o)
}

// store opens the database.
func (f *flags) store(ctx context.Context, s *process.Process, r *workroom, o *chat.Options) error {
	remove, err := (&chatcmd.Command{Sandbox: f.Sandbox, DB: f.DB, KeyFileFlag: f.KeyFileFlag}).Database(s, o)
	if remove != nil {
		r.clean = append(r.clean, remove)
	}
	if err != nil {
		return err
	}
	with := &embedded.Options{Account: o.Account, NoMarkers: true, Engine: engine.Options{Catalog: o.Catalog}}
	if r.db, err = o.Database(ctx, with); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	r.clean = append(r.clean, r.db.Close)
	r.options.Journals = r.db.Store()
	return nil
}

// talk chooses the model.
func (f *flags) talk(s *process.Process, r *workroom, o *chat.Options) error {
	if f.Sandbox {
		return f.talkToStandIn(s, r, o)
	}
	err := chatcmd.TalkTo(s, o, r.pacer)
	if errors.Is(err, chatcmd.ErrNoModel) {
		return exit.Usage(errors.New("there is no key for a model: set ANTHROPIC_API_KEY (or OPENAI_API_KEY, or OPENAI_BASE_URL with --model); " +
			"without a key there are --dry-run and --sandbox"))
	}
	if err == nil {
		r.model, r.client = o.Model, o.Client
	}
	return err
}

// talkToStandIn has a stand-in answer in place of a model. With --db its batches are kept beside the database, so that the
// next process finds them.
func (f *flags) talkToStandIn(s *process.Process, r *workroom, o *chat.Options) error {
	batches := ""
	if f.DB != "" {
		batches = s.Path(f.DB) + ".sandbox"
	}
	o.Model = cmp.Or(o.Project.Settings.Model, chatcmd.DefaultModel)
	o.Project.Settings.Model = o.Model
	end, err := f.sandbox.StandIn(o, batches)
	if err != nil {
		return err
	}
	r.clean = append(r.clean, end)
	r.model, r.client = o.Model, o.Client
	return nil
}

// arrange sets the options of runs.
func (r *workroom) arrange(s *process.Process, o *chat.Options) error {
	p, err := preset.Load(s.Preset(cmp.Or(r.set.Preset, "night-watch")))
	if err != nil {
		return exit.Input(fmt.Errorf("preset: %w", err))
	}
	m, known := o.Catalog.Lookup(r.model)
	if m.Retirement(time.Now()) != "" {
		r.notices = append(r.notices, m.Retirement(time.Now())+": choose another with --model or model: in the settings.")
	}
	r.options.Code, r.options.Parallel = r.reader, r.set.Parallel
	with := investigate.Options{
		Client: r.client, Model: r.model, Engine: r.db.Engine(), Journals: r.db.Store(), Preset: p, Code: r.reader, Tools: r.tools,
		Mask: r.masker.Text, Budget: r.set.PerError, Allowance: agent.NewAllowance(agent.Budget{Tokens: r.set.PerRun}),
		Thinking: r.set.Thinking, Off: r.set.Off, Catalog: o.Catalog, Backoff: provider.Backoff(p.Summary.Retry),
		// The limits of a provider may put minutes between investigations, so what all of them begin with is cached for an
		// hour. The messages of one follow each other closely: an hour would cost more than it saves.
		LongFixed: r.client != nil && known && m.Provider == token.Anthropic,
	}
	for _, src := range r.set.Sources {
		if t, ok := src.(investigate.Tracer); ok {
			with.Traces = append(with.Traces, t)
		}
	}
	r.options.Investigator = investigate.New(with)
	return nil
}

// archived does something with the journals of runs, which can be read without settings, repositories or a model.
func (f *flags) archived(s *process.Process, do func(context.Context, *workroom) error) (err error) {
	ctx, stop := s.Context()
	defer stop()
	r := &workroom{set: &triage.Settings{}}
	defer func() { err = errors.Join(err, r.close()) }()
	o := &chat.Options{Project: &project.Project{}}
	if o.Catalog, err = f.Models(s); err != nil {
		return err
	}
	if err := f.store(ctx, s, r, o); err != nil {
		return err
	}
	return do(ctx, r)
}

// kept opens a run with the repositories whose code it has read and, if talks is set, with a model, and does something
// with it.
func (f *flags) kept(ctx context.Context, s *process.Process, run string, talks bool, do func(*workroom, *triage.Run) error) (err error) {
	set, err := f.settings(s)
	if err != nil {
		return err
	}
	var taken *Sample
	id := ""
	err = f.archived(s, func(ctx context.Context, room *workroom) (err error) {
		taken, id, err = f.find(ctx, s, room, run)
		return err
	})
	if err != nil {
		return err
	}
	room, err := f.open(ctx, s, taken, set, talks)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return err
	}
	r, err := triage.Open(ctx, room.options, id)
	if err != nil {
		return noRun(err)
	}
	return do(room, r)
}

// find returns the full id of a run, and the sample that it was begun on, nil for none.
func (f *flags) find(ctx context.Context, s *process.Process, room *workroom, name string) (taken *Sample, id string, err error) {
	run, err := triage.Open(ctx, room.options, latest(name))
	if err != nil {
		return nil, "", noRun(err)
	}
	if run.OnSample() {
		taken, err = f.sandbox.Sample(s)
	}
	return taken, run.ID(), err
}

// reader returns the repositories: those of a sample, those of --repo, those of the settings, or the one here.
func (f *flags) reader(s *process.Process, taken *Sample, room *workroom) (*code.Reader, error) {
	repos := room.set.Repos
	var err error
	switch {
	case taken != nil:
		repos = taken.Repos
	case len(f.Repo) > 0:
		repos, err = namedRepos(s, f.Repo)
	case len(repos) == 0:
		dir := trust.Repository(s.Path("."))
		if dir == "" {
			return nil, exit.Usage(errors.New("name a clone of the repository whose code runs: --repo DIR"))
		}
		repos = []code.Repo{{Name: filepath.Base(dir), Dir: dir}}
	}
	if err != nil {
		return nil, err
	}
	o := code.Options{Repos: repos, Mask: room.masker.Code, Whole: !room.set.Off.On(investigate.LayerCaps),
		Cache: code.NewCache(code.CacheOptions{Off: !room.set.Off.On(investigate.LayerCodeCache)})}
	if token := githubToken(s); token != "" {
		if o.GitHub, err = code.GitHub(token, s.Key("GITHUB_API_URL"), room.pacer); err != nil {
			return nil, exit.Usage(err)
		}
	}
	reader, err := code.New(o)
	if err != nil {
		return nil, exit.Input(err)
	}
	return reader, nil
}

// githubToken returns the credential of GitHub; empty: there is none.
func githubToken(s *process.Process) string { return cmp.Or(s.Key("GITHUB_TOKEN"), s.Key("GH_TOKEN")) }

// namedRepos returns the repositories that --repo names: [NAME=]DIR.
func namedRepos(s *process.Process, names []string) (repos []code.Repo, err error) {
	for _, text := range names {
		name, dir, named := strings.Cut(text, "=")
		if !named {
			name, dir = "", text
		}
		if dir = trust.Repository(s.Path(dir)); dir == "" {
			return nil, exit.Input(fmt.Errorf("--repo %s: not a git repository", text))
		}
		repos = append(repos, code.Repo{Name: cmp.Or(name, filepath.Base(dir)), Dir: dir})
	}
	return repos, nil
}
