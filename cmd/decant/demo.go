package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/transport"
	"github.com/decantdev/decant/wire"
)

//go:embed demo/session.jsonl.gz
var demoSession []byte

// demoWindow is small enough for two pours in the session.
const demoWindow = 40_000

type demoCmd struct {
	Keep string `placeholder:"FILE" help:"Keep the demo's database in this file, to explore it with other commands and --db."`
}

// Run plays a recorded session with and without Decant and shows what happens.
func (c *demoCmd) Run(s *process.Process) error {
	ctx := context.Background()
	d, err := newDemo(ctx, s.Path(c.Keep), s.Getenv("TMPDIR"))
	if err != nil {
		return err
	}
	start := time.Now()
	err = errors.Join(d.show(ctx, report.NewDemo(s.Out, s.Colour), c.Keep), d.close())
	if err == nil {
		fmt.Fprintf(s.Out, "\nThis took %.1f seconds.\n", time.Since(start).Seconds())
	}
	return err
}

// A demo is a recorded session, the stand-ins that answer it, and Decant in front of one of them. They share the
// recorded clock, so that caches become cold when they did.
type demo struct {
	conv  *decant.Conversation
	model token.Model
	clock atomic.Int64 // nanoseconds since 1970
	dir   string       // temporary, empty: none
	path  string       // of the database

	small, wide, behind *stand // a small window, the model's own, and a small one behind Decant
	decant              *embedded.DB
	key                 store.Key // of the conversation
}

func newDemo(ctx context.Context, keep, temp string) (d *demo, err error) {
	src, err := wire.Read(bytes.NewReader(demoSession))
	if err != nil {
		return nil, err
	}
	doc, err := wire.Parse(src)
	if err != nil {
		return nil, err
	}
	catalog, err := token.Builtin()
	if err != nil {
		return nil, err
	}
	d = &demo{conv: doc.Conversation}
	d.conv.Model = modelOf("", d.conv)
	d.model, _ = catalog.Lookup(d.conv.Model)
	for _, s := range []struct {
		stand  **stand
		window int
	}{{&d.small, demoWindow}, {&d.wide, 0}, {&d.behind, demoWindow}} {
		if *s.stand, err = newStand(d.conv, s.window, d.now); err != nil {
			return nil, errors.Join(err, d.close())
		}
	}
	if err := d.create(ctx, keep, temp); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// create makes the database, a temporary one in the folder temp unless the user wants to keep it.
func (d *demo) create(ctx context.Context, keep, temp string) (err error) {
	d.path = keep
	if keep == "" {
		if d.dir, err = os.MkdirTemp(temp, "decant-demo-"); err != nil {
			return err
		}
		d.path = filepath.Join(d.dir, "demo.db")
	} else if _, err := os.Stat(keep); err == nil {
		return exit.Usage(fmt.Errorf("%s exists already: name a new file", keep))
	}
	return d.open(ctx)
}

// open puts Decant in front of a stand-in.
func (d *demo) open(ctx context.Context) (err error) {
	d.decant, err = embedded.Open(ctx, d.path, &embedded.Options{
		Engine: engine.Options{
			Window: demoWindow, NoEarlyPours: true, // early pours would delay the full window that the demo shows
			Now: d.now, Timeouts: engine.Timeouts{Optional: time.Minute, Required: time.Minute}, // the result must not depend on the speed of this machine
		},
		NoMarkers: true, // as the same client without Decant, to which it is compared
		Transport: transport.Options{Project: "demo"},
		Store:     sqlite.Options{Now: d.now},
	})
	if err != nil {
		return err
	}
	d.behind.player.client, d.behind.player.session = d.decant.Client(), "demo"
	return nil
}

// reopen closes Decant, which then has stored everything, and opens it again.
func (d *demo) reopen(ctx context.Context, _ *report.Demo) error {
	old := d.decant
	d.decant = nil
	if err := old.Close(); err != nil {
		return err
	}
	return d.open(ctx)
}

func (d *demo) close() error {
	var errs []error
	if d.decant != nil {
		errs = append(errs, d.decant.Close())
	}
	for _, s := range []*stand{d.small, d.wide, d.behind} {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	if d.dir != "" {
		errs = append(errs, os.RemoveAll(d.dir))
	}
	return errors.Join(errs...)
}

func (d *demo) now() time.Time { return time.Unix(0, d.clock.Load()).UTC() }

// show plays and tells, in the order in which things happen.
func (d *demo) show(ctx context.Context, r *report.Demo, keep string) error {
	requests := d.small.player.requests()
	r.Begin(len(requests), demoWindow)
	if err := d.without(ctx, r, requests); err != nil {
		return err
	}
	if err := d.with(ctx, r, requests); err != nil {
		return err
	}
	for _, step := range []func(context.Context, *report.Demo) error{d.reopen, d.checkpoint, d.original, d.undo} {
		if err := step(ctx, r); err != nil {
			return err
		}
	}
	return r.End(keep, demoWindow)
}

// without plays the session against the small window until that is full.
func (d *demo) without(ctx context.Context, r *report.Demo, requests []int) error {
	for i, n := range requests {
		if err := d.request(ctx, d.small, n); err != nil {
			refused := d.small.api.Log.Refused()
			if len(refused) == 0 {
				return err
			}
			r.Refused(i+1, refused[0].Error)
			return nil
		}
	}
	return errors.New("the session fits into the small window: nothing to show")
}

// with plays the whole session through Decant, and also without Decant against the model's own window, to
// compare the cost.
func (d *demo) with(ctx context.Context, r *report.Demo, requests []int) error {
	r.With()
	known := 0
	for i, n := range requests {
		if err := errors.Join(d.request(ctx, d.wide, n), d.request(ctx, d.behind, n)); err != nil {
			return err
		}
		if err := d.decant.Engine().Close(); err != nil { // so that pours do not depend on how fast this machine is
			return err
		}
		s, err := d.state(ctx)
		if err != nil {
			return err
		}
		if ds := s.Decisions[known:]; slices.ContainsFunc(ds, isPoured) {
			r.Pour(i+1, d.behind.sizes[i-1], d.behind.sizes[i], ds)
		}
		known = len(s.Decisions)
	}
	full, ok1 := d.wide.bill.Total()
	sent, ok2 := d.behind.bill.Total()
	r.Compare(report.Comparison{
		Model: d.model.ID, Window: d.model.Window, Full: d.wide.sizes, Sent: d.behind.sizes, FullUSD: full, SentUSD: sent, Priced: ok1 && ok2,
	})
	return nil
}

// isPoured reports whether a decision is part of a pour.
func isPoured(d decant.Decision) bool { return d.Pour != "" }

// request sends a request at its recorded time and adds up what it used.
func (d *demo) request(ctx context.Context, s *stand, n int) error {
	at := s.player.at(n)
	d.clock.Store(at.UnixNano())
	if err := s.player.send(ctx, n); err != nil {
		return err
	}
	u := s.api.Log.Last().Usage
	s.bill = s.bill.Add(cost.Of(d.model, u, cost.Terms{At: at}))
	s.sizes = append(s.sizes, u.Prompt())
	return nil
}

// state returns the stored conversation. Decisions are in it before their bytes leave.
func (d *demo) state(ctx context.Context) (*store.State, error) {
	if d.key.ID == "" {
		found, err := d.decant.Store().Conversations(ctx, store.Filter{})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, store.ErrNotFound
		}
		d.key = found[0].Key
	}
	return d.decant.Store().Load(ctx, d.key, store.Newest)
}

// checkpoint shows the newest summary.
func (d *demo) checkpoint(ctx context.Context, r *report.Demo) error {
	s, err := d.state(ctx)
	if err != nil {
		return err
	}
	all := s.Checkpoints()
	if len(all) == 0 {
		return errors.New("the session fits without a summary: nothing to show")
	}
	r.Checkpoint(all[len(all)-1])
	return nil
}

// original shows the largest tool result that the newest summary replaces, as the database has it.
func (d *demo) original(ctx context.Context, r *report.Demo) error {
	t, err := archive.ReadTranscript(ctx, d.decant.Store(), d.key, store.Newest)
	if err != nil {
		return err
	}
	all := t.State.Checkpoints()
	cp := all[len(all)-1]
	ms := t.Conversation.Messages
	var message int
	var largest *decant.Block
	for i := range ms {
		if ms[i].Number < cp.From || ms[i].Number > cp.To {
			continue
		}
		for k := range ms[i].Blocks {
			b := &ms[i].Blocks[k]
			if b.Kind == decant.KindResult && (largest == nil || len(b.Text()) > len(largest.Text())) {
				message, largest = i, b
			}
		}
	}
	if largest == nil {
		return errors.New("the summary stands for no tool result: nothing to show")
	}
	shown := wire.Text(t.Conversation.With(ms[message : message+1]))
	same := strings.Contains(shown, largest.Text()) && d.recorded(largest.Text())
	r.Original(ms[message].Number, token.For(d.model).Block(largest), shown, same)
	return nil
}

// recorded reports whether a tool of the recording has returned exactly this text.
func (d *demo) recorded(text string) bool {
	for i := range d.conv.Messages {
		for k := range d.conv.Messages[i].Blocks {
			if b := &d.conv.Messages[i].Blocks[k]; b.Kind == decant.KindResult && b.Text() == text {
				return true
			}
		}
	}
	return false
}

// undo takes back the newest pour and shows what that means.
func (d *demo) undo(ctx context.Context, r *report.Demo) error {
	before, err := d.seen(ctx)
	if err != nil {
		return err
	}
	e := d.decant.Engine()
	change, err := e.Undo(ctx, d.key)
	if err != nil {
		return err
	}
	if err := e.Apply(ctx, change); err != nil {
		return err
	}
	after, err := d.seen(ctx)
	if err != nil {
		return err
	}
	r.Undo(change.Plan, before, after)
	return nil
}

// seen returns how many messages the model sees.
func (d *demo) seen(ctx context.Context) (int, error) {
	t, err := archive.ReadTranscript(ctx, d.decant.Store(), d.key, store.Newest)
	if err != nil {
		return 0, err
	}
	view, err := t.View()
	if err != nil {
		return 0, err
	}
	return len(view.Messages), nil
}
