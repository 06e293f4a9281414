package deliver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/apps/triage/internal/mask"
)

// Options says where results go, and how.
type Options struct {
	Settings Settings
	Slack    *Slack // nil: nothing is sent there
	Hub      *Hub   // nil: likewise

	// Try finds out whether the patch of an error applies, builds, passes the tests, and has a test that fails without it:
	// see Prover. A refusal says why not. Nil: there are no pull requests.
	Try func(ctx context.Context, e *ReportedError) (*Branch, *Refusal, error)

	// Show is told of each item in place of its being sent. What is at GitHub is read where Hub is there. Nil: items are sent.
	Show func(Item)

	Now  func() time.Time                                 // nil: time.Now
	Rest func(ctx context.Context, d time.Duration) error // waits; nil: by the clock
}

// A Refusal is why a patch is not worth a pull request.
type Refusal struct {
	Stage   string // which check it fails; this is sent
	Printed string // by programs of this machine, about it; this is not
}

// A Result says what was sent, and what was not.
type Result struct {
	Entries []Entry  // in the order in which they were sent
	Missing []string // what has not arrived, and why
}

// A delivery is under way.
type delivery struct {
	courier
	o     Options
	mask  mask.Masker
	rep   *Report
	out   Result
	links links
	tries map[int]string // by the number of an error, what came of trying its patch
	draft *Item          // nil: no patch is worth a pull request
}

// Run sends what a run has found, as far as it was not sent before. An error is that of the box. What could not be sent is in the result: call it again.
func Run(ctx context.Context, o Options, rep *Report, box Box) (*Result, error) {
	o.Settings.Issues.fill()
	d := &delivery{courier: courier{box: box, now: o.Now, rest: o.Rest}, o: o, links: links{issues: map[int]string{}}, tries: map[int]string{}}
	d.rep = masked(&d.mask, rep)
	if d.now == nil {
		d.now = time.Now
	}
	if d.rest == nil {
		d.rest = rest
	}
	if o.Show != nil {
		d.box = shown{}
	}
	if err := d.github(ctx); err != nil {
		return &d.out, err
	}
	return &d.out, d.slack(ctx)
}

// shown is a box for what is shown and not sent.
type shown struct{}

func (shown) Entry(string) (Entry, bool)         { return Entry{}, false }
func (shown) Write(context.Context, Entry) error { return nil }

// put masks an item and brings it to its end, or shows it.
func (d *delivery) put(ctx context.Context, s service, it Item) (Entry, error) {
	if before, known := d.box.Entry(it.ID); !known || before.State == failed {
		it = d.sealed(it)
	}
	if d.o.Show != nil {
		d.o.Show(it)
		return Entry{Item: it, State: Done}, nil
	}
	e, err := d.deliver(ctx, s, it)
	d.out.Entries = append(d.out.Entries, e)
	if err == nil && e.State != Done && e.State != skipped {
		what := string(it.Kind)
		if it.Number > 0 {
			what += fmt.Sprintf(" of error %d", it.Number)
		}
		d.lack(what, e.Why)
	}
	return e, err
}

// sealed returns an item with nothing in it that must not leave, and with its mark.
func (d *delivery) sealed(it Item) Item {
	it.Title, it.Text = d.mask.Text(it.Title), unmarked(d.mask.Text(it.Text))
	if it.Kind == kindIssue || it.Kind == kindComment || it.Kind == kindPull {
		it.Text += "\n\n" + it.Marker
	}
	return it
}

// lack notes what has not arrived.
func (d *delivery) lack(what, why string) { d.out.Missing = append(d.out.Missing, what+": "+why) }

// slack sends the message of the run, and a reply for each error.
func (d *delivery) slack(ctx context.Context) error {
	if d.o.Slack == nil && d.o.Show == nil {
		return nil
	}
	threads := d.o.Slack == nil || d.o.Slack.Threads()
	channel := cmp.Or(d.o.Settings.Slack.Channel, "webhook")
	id := "slack"
	if d.rep.Failed != "" {
		id = "failed" // the run may be finished later, and then says so
	}
	run, err := d.put(ctx, d.o.Slack, Item{ID: id, Kind: kindMessage, To: channel, Marker: d.rep.Run + "/" + id, Text: runText(d.rep, &d.links, threads)})
	if err != nil || !threads || run.State != Done || d.rep.Failed != "" {
		return err
	}
	for i := range d.rep.Errors {
		e := &d.rep.Errors[i]
		if e.Finding == nil {
			continue
		}
		to := run.Made.Channel + "/" + run.Made.ID
		if d.o.Show != nil {
			to = channel + ", in the thread"
		}
		id := fmt.Sprintf("slack/%d", e.Number)
		if _, err := d.put(ctx, d.o.Slack, Item{ID: id, Kind: kindReply, Number: e.Number, To: to, Marker: d.rep.Run + "/" + id, Text: errorText(e, &d.links)}); err != nil {
			return err
		}
	}
	return nil
}

// github opens issues, comments on those that are there, and opens the draft of a pull request.
func (d *delivery) github(ctx context.Context) error {
	if d.o.Hub == nil && d.o.Show == nil || d.rep.Failed != "" {
		return nil
	}
	var there []ours
	if d.o.Hub != nil {
		var err error
		if there, err = d.o.Hub.ours(ctx, d.o.Settings.Issues.Labels[0]); err != nil {
			d.lack("issues", err.Error())
			return nil
		}
	}
	if err := d.prove(ctx, there); err != nil {
		return err
	}
	open := 0
	for _, o := range there {
		if o.open && !o.pull {
			open++
		}
	}
	if err := d.issues(ctx, there, open); err != nil {
		return err
	}
	return d.pull(ctx)
}

// issues opens issues, and comments on those that are there.
func (d *delivery) issues(ctx context.Context, there []ours, open int) error {
	made := 0
	for i := range d.rep.Errors {
		e, ok := d.box.Entry(idOf(&d.rep.Errors[i]))
		if ok && e.State != failed && e.Item.Kind == kindIssue {
			made++
		}
	}
	for i := range d.rep.Errors {
		e := &d.rep.Errors[i]
		if before, ok := d.box.Entry(idOf(e)); ok && before.State != failed {
			if err := d.one(ctx, before.Item); err != nil {
				return err
			}
			continue
		}
		it := d.about(e, there)
		switch {
		case it == nil:
			continue
		case it.Kind == kindIssue && made >= d.o.Settings.Issues.Most:
			continue
		case it.Kind == kindIssue && open >= d.o.Settings.Issues.MostAll:
			d.lack(fmt.Sprintf("issue of error %d", it.Number), fmt.Sprintf("%s of decant triage are open already, and no more than %d may be: close some", counted(open, "issue"), d.o.Settings.Issues.MostAll))
			continue
		case it.Kind == kindIssue:
			made, open = made+1, open+1
		}
		if err := d.one(ctx, *it); err != nil {
			return err
		}
	}
	return nil
}

func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// one sends an item to GitHub and notes its address.
func (d *delivery) one(ctx context.Context, it Item) error {
	e, err := d.put(ctx, d.o.Hub, it)
	if e.State == Done && it.Number > 0 {
		d.links.issues[it.Number] = e.Made.URL
	}
	return err
}

// idOf returns the id of what is said of an error at GitHub.
func idOf(e *ReportedError) string {
	if e.Number == 0 {
		return "issue/" + e.Key
	}
	return fmt.Sprintf("issue/%d", e.Number)
}

// about returns what is said of an error at GitHub; nil: nothing.
func (d *delivery) about(e *ReportedError, there []ours) *Item {
	m := markOf(d.rep, e)
	it := &Item{ID: idOf(e), Number: e.Number, To: d.o.Settings.Issues.Repo, Marker: m.String(), Labels: d.o.Settings.Issues.Labels}
	i := slices.IndexFunc(there, func(o ours) bool { return !o.pull && o.key == e.Key && o.open })
	if i < 0 {
		i = slices.IndexFunc(there, func(o ours) bool { return !o.pull && o.key == e.Key })
	}
	switch {
	case i >= 0 && there[i].mark == m: // this run has opened it
		if e.Number > 0 {
			d.links.issues[e.Number] = there[i].url
		}
		return nil
	case i >= 0 && (there[i].open || e.Last.After(there[i].closed)):
		it.Kind, it.On, it.Text = kindComment, there[i].number, again(d.rep, e, &there[i])
		return it
	case i >= 0 || !worthy(e):
		return nil // it is closed and has not happened since, or there is nothing to say
	}
	it.Kind, it.Title, it.Text = kindIssue, titleOf(e), issueText(d.rep, e, d.tries[e.Number])
	return it
}

// worthy reports whether a finding becomes an issue: one with a cause, of which the agent is not unsure.
func worthy(e *ReportedError) bool {
	f := e.Finding
	return f != nil && f.State == investigate.RootCause && f.Confidence != investigate.Low && f.Cause != ""
}
