package notebook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant/memory"
)

// due returns the state that a record should have. Confirmations come before age, which counts from the last
// confirmation. A refused observation is due again after as many confirmations as the first time.
func (l *ledger) due(r *Record) memory.State {
	it := r.Item
	if !r.Refused.IsZero() {
		it.Times -= r.RefusedAt
	}
	if !r.Suspended.IsZero() {
		it.Times = 0
	}
	age := &l.set.Triggers.ObservationAge
	return dueAfter(it, l.now, age.Confirmations, time.Duration(age.ArchiveDays)*24*time.Hour)
}

// dueAfter returns the state into which an item should go now: Escalated for an active observation that was confirmed
// so many times, else Archived for one that was not confirmed for so long, else the state it is in. Items of other
// kinds do not age.
func dueAfter(it memory.Item, now time.Time, times int, age time.Duration) memory.State {
	last := it.Confirmed
	if it.Restored.After(last) {
		last = it.Restored
	}
	switch {
	case it.Kind != memory.KindObservation || it.State() != memory.Active:
		return it.State()
	case it.Times >= times:
		return memory.Escalated
	case now.Sub(last) > age:
		return memory.Archived
	}
	return memory.Active
}

// escalate makes an observation a rule. Both name each other.
func (l *ledger) escalate(r *Record) (*Record, error) {
	id := cmp.Or(r.Shares, recordID(memory.KindRule, r.Text, l.now, r.ID))
	was, is, err := escalated(r.Item, id, l.now)
	if err != nil {
		return nil, err
	}
	is.Extra, r.Item = "", was
	if rule := l.byID(id); rule != nil { // others changed the words of a shared rule, and a person accepts them
		err := l.rewrite(rule, r.Text)
		rule.Why, rule.Changed = r.Why, r.Changed
		return rule, err
	}
	rule := &Record{Item: is, Detail: Detail{Shared: r.Shared || r.Shares != "", Session: r.Session, Seen: r.Seen}}
	rule.Number, rule.Why = l.nextRule(), whyOf(r)
	if r.Shares != "" {
		rule.Why, rule.Changed = r.Why, r.Changed
	}
	l.records = append(l.records, rule)
	return rule, nil
}

// escalated returns the observation as one that has become a rule, and the rule, under the given id. The rule has what
// the observation is known from.
func escalated(it memory.Item, id string, at time.Time) (observation, rule memory.Item, err error) {
	if it.Kind != memory.KindObservation || it.State() != memory.Active {
		return it, memory.Item{}, fmt.Errorf("%s is an %s %s: only an active observation becomes a rule", it.ID, it.State(), it.Kind)
	}
	rule = it
	rule.ID, rule.Kind, rule.From, rule.Created = id, memory.KindRule, it.ID, at
	rule.Confirmations = slices.Clone(it.Confirmations)
	it.Escalated, it.Became = at, id
	return it, rule, nil
}

// whyOf returns the confirmations of an observation as the reason for a rule.
func whyOf(r *Record) string {
	out := fmt.Sprintf("confirmed %d times", r.Times)
	if n := r.Sessions(); n > 1 {
		out += fmt.Sprintf(" in %d sessions", n)
	}
	if n := len(r.Confirmations); n > 0 && r.Confirmations[n-1].Evidence != r.Text {
		out += ", last: “" + r.Confirmations[n-1].Evidence + "”"
	}
	return out
}

// archive archives a record for a reason.
func (l *ledger) archive(r *Record, reason string) error {
	it, err := memory.Archive(r.Item, l.now)
	if err == nil {
		r.Item, r.Reason, r.Changed = it, reason, l.now
	}
	return err
}

// Offered returns the observations to review: those with enough confirmations, then those that the person
// stated in recorded sessions, the most sessions first, then procedures. Refused ones are left out until they
// are confirmed again.
func (b *Book) Offered(ctx context.Context) (out []*Record, err error) {
	l, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	rank := map[*Record]int{}
	for _, r := range l.records {
		active := r.Item.State() == memory.Active && r.Removed.IsZero() && r.Suspended.IsZero()
		if r.Kind != memory.KindObservation || !active {
			continue
		}
		if l.due(r) == memory.Escalated {
			rank[r] = 1
			out = append(out, r)
		} else if r.Offer == Procedure && r.Refused.IsZero() {
			rank[r] = -1
			out = append(out, r)
		} else if r.Offer != "" && r.Refused.IsZero() {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(x, y *Record) int {
		return cmp.Or(rank[y]-rank[x], max(y.Sessions(), y.Asked)-max(x.Sessions(), x.Asked), worth(x, y))
	})
	return out, nil
}

// Accept makes an observation a rule, because a person said yes. A text replaces the one that the observation has.
func (b *Book) Accept(ctx context.Context, id, text string) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) {
		r, err := l.named(id)
		if err != nil {
			return nil, err
		}
		if text != "" {
			if err := l.rewrite(r, text); err != nil {
				return nil, err
			}
		}
		return l.escalate(r)
	})
}

// Refuse records that a person does not want the observation as a rule. It stays an observation.
func (b *Book) Refuse(ctx context.Context, id string) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) {
		r, err := l.named(id)
		if err == nil {
			r.Refused, r.RefusedAt = l.now, r.Times
		}
		return r, err
	})
}

// Edit changes the text or the reason of a record, whichever is not empty. The record keeps its earlier texts.
func (b *Book) Edit(ctx context.Context, id, text, why string) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) {
		r, err := l.named(id)
		if err == nil && text != "" {
			err = l.rewrite(r, text)
		}
		if err == nil && why != "" {
			r.Why, r.Changed = oneLine(why), l.now
		}
		return r, err
	})
}

// rewrite changes the text of a record.
func (l *ledger) rewrite(r *Record, text string) error {
	it, err := memory.New(r.ID, r.Kind, r.Scope, withoutPrivate(text), r.Source, l.now)
	if err != nil || it.Text == r.Text {
		return err
	}
	r.Was, r.Text, r.Changed = append(r.Was, r.Text), it.Text, l.now
	return nil
}

// Archive archives a record; Restore undoes it.
func (b *Book) Archive(ctx context.Context, id, reason string) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) {
		r, err := l.named(id)
		if err == nil {
			err = l.archive(r, cmp.Or(oneLine(reason), "by hand"))
		}
		return r, err
	})
}

// Restore makes a record active again that was archived, deleted from a file or suspended.
func (b *Book) Restore(ctx context.Context, id string) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) {
		r, err := l.named(id)
		if err != nil {
			return nil, err
		}
		if r.Item.State() != memory.Archived && (!r.Removed.IsZero() || !r.Suspended.IsZero()) {
			r.Removed, r.Suspended, r.Against = time.Time{}, time.Time{}, ""
			return r, nil
		}
		if r.Item, err = memory.Restore(r.Item, l.now); err == nil {
			r.Removed, r.Reason, r.Changed = time.Time{}, "", l.now
		}
		return r, err
	})
}

// Switch switches the notebook on or off.
func (b *Book) Switch(ctx context.Context, on bool) error {
	return b.change(ctx, true, func(l *ledger) error { l.state().Off = !on; return nil })
}
