package deliver

import (
	"context"
	"fmt"
	"slices"
)

// mostProofs is how many patches of a run are tried.
const mostProofs = 3

// prove tries patches until one is worth a pull request. What came of each is kept: it takes minutes.
func (d *delivery) prove(ctx context.Context, there []ours) error {
	if d.o.Try == nil || d.o.Show != nil || d.o.Hub == nil {
		return nil
	}
	tried := 0
	for i := range d.rep.Errors {
		e := &d.rep.Errors[i]
		if !worthy(e) || e.Finding.Patch == "" {
			continue
		}
		id := ProofID(e.Number)
		entry, known := d.box.Entry(id)
		switch {
		case known:
		case d.draft != nil, tried == mostProofs:
			continue
		case slices.ContainsFunc(there, func(o ours) bool { return o.pull && o.key == e.Key }):
			entry = Entry{State: skipped, Why: "There was a pull request for this error already."}
		default:
			tried++
			var err error
			if entry, err = d.proof(ctx, id, e); err != nil {
				return err
			}
		}
		d.tries[e.Number] = entry.Why
		if entry.State == Done && d.draft == nil {
			d.draft = &entry.Item
		}
	}
	return nil
}

// ProofID returns the id of the entry that says what came of trying the patch of an error.
func ProofID(number int) string { return fmt.Sprintf("proof/%d", number) }

// mostPrinted is how many characters are kept of what was printed.
const mostPrinted = 4000

// proof tries the patch of an error and writes down what came of it.
func (d *delivery) proof(ctx context.Context, id string, e *ReportedError) (Entry, error) {
	entry := Entry{Item: Item{ID: id, Kind: kindProof, Number: e.Number}, State: Done, Time: d.now().UTC()}
	branch, refused, err := d.o.Try(ctx, e)
	switch {
	case ctx.Err() != nil:
		return entry, context.Cause(ctx)
	case err != nil:
		entry.State, entry.Why, entry.Printed = skipped, "It could not be tried.", err.Error()
	case refused != nil:
		entry.State, entry.Why, entry.Printed = skipped, "It is no pull request: "+d.mask.Text(refused.Stage)+".", refused.Printed
	default:
		branch.Name = fmt.Sprintf("decant-triage/%s-%d", d.rep.Run, e.Number)
		entry.Item.Branch = branch
		entry.Why = "It was tried: it applies, builds, the tests pass, and its new test fails without it. The draft of a pull request has it."
	}
	entry.Printed = end(d.mask.Text(entry.Printed), mostPrinted)
	return entry, d.box.Write(context.WithoutCancel(ctx), entry)
}

// pull opens the draft.
func (d *delivery) pull(ctx context.Context) error {
	if d.draft == nil {
		return nil
	}
	i := slices.IndexFunc(d.rep.Errors, func(e ReportedError) bool { return e.Number == d.draft.Number })
	if i < 0 {
		return nil
	}
	e := &d.rep.Errors[i]
	it := Item{ID: "pull", Kind: kindPull, Number: e.Number, To: d.o.Settings.Issues.Repo, Marker: markOf(d.rep, e).String(), Title: cut("Fix "+titleOf(e), mostTitle),
		Text: pullText(d.rep, e, d.links.issues[e.Number]), Labels: d.o.Settings.Issues.Labels, Branch: d.draft.Branch}
	if before, ok := d.box.Entry(it.ID); ok && before.State != failed {
		it = before.Item
	}
	made, err := d.put(ctx, d.o.Hub, it)
	if made.State == Done {
		d.links.pull, d.links.number = made.Made.URL, it.Number
	}
	return err
}
