// Package chat is an agent that a person talks to, or a script: a session of package agent on a database, with the instructions and
// skills of its project in front of every request, pours on demand, and its size and its cost at hand.
//
// What the project says stands in the system prompt. No pour changes that, so rules hold for as long as the conversation lasts.
package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/remember"
	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// Options configures a Chat. Client, Model, DB, Preset and Project are required.
type Options struct {
	Client  provider.Speaker
	Account *provider.Account // who writes records; nil: they quote
	Model   string            // id
	Preset  *preset.Preset

	DB     string // database file
	Window int    // tokens, in place of the model's; 0: the model's

	// Open opens the database. Nil: it is a file that is not encrypted.
	Open func(ctx context.Context, db string) (store.Store, error)

	Encrypted bool // the database is encrypted: nothing of what it holds may be stored beside it

	Catalog *token.Catalog // nil: the built-in one

	Project *project.Project
	Tools   []agent.Tool // besides those for skills
	Team    *team.File   // to whom the agent can delegate; nil: to nobody

	// Permit says what is to be done about a call. Nil: the tool's own Ask decides.
	Permit func(ctx context.Context, t *agent.Tool, c *agent.Call) agent.Verdict

	// Always allows calls like one from now on, and returns the rule by which it does. Nil: nothing can be allowed for good.
	Always func(c *agent.Call) (rule string, err error)

	// Restore takes back what calls have changed in files, by their ids, and returns the files; Restore of the id that it returns makes
	// the changes again. Nil: nothing can be taken back.
	Restore func(calls ...string) (id string, files []string, err error)

	// Kept has what files were, of one session after the other, for Restore. Nil: Restore knows what was changed in this process alone.
	Kept Kept

	Unattended bool // nobody can be asked: calls that somebody must allow are denied

	Turns int     // answers of the model to one thing that is said; 0: the agent's default
	USD   float64 // that the session may cost; 0: no limit

	Notices io.Writer // gets the lines of the preset about pours
	Now     func() time.Time
}

// A Chat is one conversation at a time. One goroutine uses it; Steer, and Waiting, may be called by another one.
type Chat struct {
	opts    Options
	db      *embedded.DB
	catalog *token.Catalog
	allowed *agent.Allowance // nil: without a limit
	tools   []agent.Tool
	memory  remember.Options
	denied  denials

	mu      sync.Mutex
	agent   *agent.Agent
	session *agent.Session

	timeline *timeline // of what is delegated

	meter  Meter       // without Spent
	before agent.Spent // by the runs of this process before the newest
	run    agent.Spent // by the newest

	rewound bool // nothing was said since the session was taken back

	trial *trial   // the newest what-if, nil: there is none, or something was said since
	kept  *kept    // what UndoTurn takes back in place of a turn, nil: a turn
	tried []string // ids of sessions of what-ifs that nobody has kept
}

// A Meter is what a session has used, and how full its window is.
type Meter struct {
	Model  string
	Size   int // tokens of the newest request, 0: there was none
	Window int
	Spent  agent.Spent // by all runs of the session, also of other processes
	Pours  int
}

// Database opens the database with an engine on it. The caller closes it.
func (o *Options) Database(ctx context.Context, with *embedded.Options) (*embedded.DB, error) {
	if o.Open == nil {
		return embedded.Open(ctx, o.DB, with)
	}
	s, err := o.Open(ctx, o.DB)
	if err != nil {
		return nil, err
	}
	return embedded.New(s, with)
}

// New opens the database and begins a session. The caller closes it.
func New(ctx context.Context, o Options) (*Chat, error) {
	c := &Chat{opts: o, catalog: o.Catalog}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	var err error
	if c.catalog == nil {
		if c.catalog, err = token.Builtin(); err != nil {
			return nil, err
		}
	}
	if o.USD > 0 {
		c.allowed = agent.NewAllowance(agent.Budget{USD: o.USD})
	}
	c.timeline = newTimeline(&c.opts)
	c.db, err = o.Database(ctx, &embedded.Options{
		Account: o.Account, NoMarkers: true, // an agent sets its own
		Engine: engine.Options{Preset: onDemand(o.Preset), Window: o.Window, Watcher: &watcher{to: o.Notices}, Catalog: c.catalog, Now: o.Now},
	})
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	c.tools = append(c.tools, o.Tools...)
	if len(o.Project.Skills) > 0 {
		c.tools = append(c.tools, skillTool(o.Project.Skills))
	}
	c.memory = remember.Options{Store: c.db.Store(), Project: o.Project.Root, Now: o.Now}
	memories, err := remember.Tools(c.memory)
	if err == nil {
		c.tools = append(c.tools, memories...)
		err = c.use(o.Model)
	}
	if err != nil {
		return nil, errors.Join(err, c.db.Close())
	}
	c.session = c.agent.Session("")
	c.collect(ctx)
	c.keep(c.session)
	return c, nil
}

// options returns the options of an agent of a model.
func (c *Chat) options(model string) agent.Options {
	return agent.Options{
		Model: model, System: system(c.opts.Project, c.opts.Now()), Tools: c.tools, Engine: c.db.Engine(), Journals: c.db.Store(), Project: c.opts.Project.Root, Preset: c.opts.Preset,
		Turns: c.opts.Turns, Allowance: c.allowed, Permit: c.permit(), Catalog: c.catalog, Now: c.opts.Now,
	}
}

// use makes an agent of a model.
func (c *Chat) use(model string) error {
	a, err := c.made(c.options(model))
	if err != nil {
		return err
	}
	if m, _ := c.catalog.Lookup(model); c.opts.Notices != nil && m.Retirement(c.opts.Now()) != "" {
		fmt.Fprintln(c.opts.Notices, m.Retirement(c.opts.Now())+": choose another; decant models lists them")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agent, c.meter.Model = a, model
	return nil
}

// made returns the agent, with its team where it has one.
func (c *Chat) made(o agent.Options) (*agent.Agent, error) {
	f := c.opts.Team
	if f == nil {
		return agent.New(c.opts.Client, o)
	}
	t, err := team.New(c.opts.Client, team.Options{Agent: o, Members: f.Members, Depth: f.Depth, Digest: f.Digest, Heard: c.timeline.heard})
	if err != nil {
		return nil, err
	}
	if c.opts.Notices != nil && c.agent == nil { // once, not again with each other model
		for _, note := range t.Notes() {
			fmt.Fprintln(c.opts.Notices, note) // nobody can be told that this failed
		}
	}
	return t.Agent(), nil
}

// Close stores what is not stored yet and closes the database.
func (c *Chat) Close() error { return errors.Join(c.dropTried(context.Background()), c.db.Close()) }

// Session returns the session that is talked in.
func (c *Chat) Session() *agent.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// Meter returns what the session has used so far.
func (c *Chat) Meter() Meter {
	m := c.meter
	m.Spent = c.Session().Spent()
	return m
}

// Run says text, shows what goes with it, and yields what happens; see agent.Session.Run.
func (c *Chat) Run(ctx context.Context, text string, with ...agent.Attachment) iter.Seq2[agent.Event, error] {
	c.before, c.run = sum(c.before, c.run), agent.Spent{}
	c.said()
	return c.noted(ctx, c.Session().Run(ctx, text, with...))
}

// Continue goes on with a run that has not come to its end; see agent.Session.Continue.
func (c *Chat) Continue(ctx context.Context) iter.Seq2[agent.Event, error] {
	c.before, c.run = sum(c.before, c.run), agent.Spent{}
	c.said()
	return c.noted(ctx, c.Session().Continue(ctx))
}

// Resume decides about a call that waits, and goes on with the run when no other one waits; see agent.Session.Resume.
func (c *Chat) Resume(ctx context.Context, call string, v agent.Verdict) iter.Seq2[agent.Event, error] {
	c.kept = nil
	return c.noted(ctx, c.Session().Resume(ctx, call, v))
}

// said notes that something is said: there is no way back but by turns, and what was tried is over.
func (c *Chat) said() { c.rewound, c.kept, c.trial = false, nil, nil }

// noted notes what a run uses, and has its calls say what they change before they are made.
func (c *Chat) noted(ctx context.Context, events iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for e, err := range events {
			c.note(&e)
			c.timeline.note(&e)
			if e.Kind == agent.EventCall && !c.opts.Unattended {
				c.preview(ctx, e.Call)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// note notes what an event says of sizes and costs.
func (c *Chat) note(e *agent.Event) {
	switch {
	case e.Kind == agent.EventMessage:
		c.meter.Size, c.meter.Window, c.run = e.Size, e.Window, e.Spent
	case e.Kind == agent.EventPour:
		c.meter.Pours++
	case e.Outcome != nil && e.Outcome.Spent.Turns > 0: // there is none where it waits for another verdict
		c.run = e.Outcome.Spent
	}
}

// sum returns what two runs have used.
func sum(a, b agent.Spent) agent.Spent {
	return agent.Spent{Turns: a.Turns + b.Turns, Usage: a.Usage.Add(b.Usage), Money: a.Money + b.Money}
}

// preview fills in what a call changes, where its tool can tell.
func (c *Chat) preview(ctx context.Context, call *agent.Call) {
	i := slices.IndexFunc(c.tools, func(t agent.Tool) bool { return t.Name == call.Tool })
	if i < 0 || c.tools[i].Preview == nil || call.Preview != "" {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			call.Preview = fmt.Sprintf("(what it changes cannot be shown: %v)", v)
		}
	}()
	text, err := c.tools[i].Preview(ctx, call)
	if err != nil {
		return // the call will say itself what is wrong with it
	}
	call.Preview = text
}
