package notebook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/memory"
)

// Confirmation is one confirmation of an observation or a rule.
type Confirmation struct {
	By       Who
	From     memory.Source // session and messages
	Evidence string        // what was said, one line; empty: the text of the record
	Time     time.Time     // zero: now
}

// Observe records a pattern. A known one with the same text is returned unchanged: seeing it again does not
// confirm it. Parts between <private> and </private> are left out.
func (b *Book) Observe(ctx context.Context, text string, from memory.Source) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) {
		text := withoutPrivate(text)
		if r := l.saying(memory.KindObservation, text); r != nil {
			return r, nil
		}
		return l.add(memory.KindObservation, text, from)
	})
}

// AddRule records a rule that a person states. It needs no confirmations.
func (b *Book) AddRule(ctx context.Context, text, why string, from memory.Source) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) { return l.addRule(withoutPrivate(text), why, from) })
}

func (l *ledger) addRule(text, why string, from memory.Source) (*Record, error) {
	if r := l.saying(memory.KindRule, text); r != nil {
		return r, nil
	}
	r, err := l.add(memory.KindRule, text, from)
	if err == nil {
		r.Number, r.Why = l.nextRule(), oneLine(why)
	}
	return r, err
}

// Decide records a decision, its reason, and when to look at it again.
func (b *Book) Decide(ctx context.Context, text, why, revisit string, from memory.Source) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) {
		r, err := l.add(memory.KindMemory, withoutPrivate(text), from)
		if err == nil {
			r.Type, r.Why, r.Revisit = DecisionType, oneLine(why), oneLine(revisit)
		}
		return r, err
	})
}

// put changes one record and writes the files.
func (b *Book) put(ctx context.Context, do func(*ledger) (*Record, error)) (memory.Item, error) {
	var it memory.Item
	err := b.change(ctx, false, func(l *ledger) error {
		r, err := do(l)
		if err == nil {
			it, err = r.Packed()
		}
		return err
	})
	if err == nil {
		_, err = b.project(ctx)
	}
	return it, err
}

// oneLine returns a text on one line, without private parts and credentials.
func oneLine(s string) string {
	return strings.Join(strings.Fields(publicText(withoutPrivate(s))), " ")
}

// saying returns the record of a kind with the same text, preferably an active one.
func (l *ledger) saying(kind memory.Kind, text string) (found *Record) {
	for _, r := range l.records {
		says := r.Kind == kind && r.Type == "" && memory.Same(r.Text, text)
		if says && (found == nil || r.Item.State() == memory.Active) {
			found = r
		}
	}
	return found
}

// nextRule returns a new number for a rule.
func (l *ledger) nextRule() int {
	l.state().Rules++
	return l.own.Rules
}

// Confirm confirms an observation or a rule by its id or its text. A person's words and a check count once
// for each session, and not in the session that the record comes from. An archived record becomes active
// again.
func (b *Book) Confirm(ctx context.Context, idOrText string, by Confirmation) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) {
		r, err := l.meant(idOrText)
		if err == nil {
			err = l.confirm(r, by)
		}
		return r, err
	})
}

// meant returns the observation or rule with an id or a text. For an observation that became a rule it
// returns the rule.
func (l *ledger) meant(idOrText string) (*Record, error) {
	r, err := l.named(idOrText)
	if err != nil {
		if r = cmp.Or(l.saying(memory.KindRule, idOrText), l.saying(memory.KindObservation, idOrText)); r == nil {
			return nil, fmt.Errorf("%w: no observation or rule has this id or text: %q", ErrNotFound, idOrText)
		}
	}
	if rule := l.byID(r.Became); rule != nil && r.Item.State() == memory.Escalated {
		r = rule
	}
	if r.Kind != memory.KindObservation && r.Kind != memory.KindRule {
		return nil, fmt.Errorf("%s is a %s: only observations and rules are confirmed", r.ID, r.Kind)
	}
	return r, nil
}

// confirm counts a confirmation, unless its session has counted already.
func (l *ledger) confirm(r *Record, by Confirmation) error {
	if !slices.Contains([]Who{Person, Hand, Check}, by.By) {
		return fmt.Errorf("%q: %w", by.By, ErrMayNot)
	}
	session := by.From.Conversation
	if by.By != Hand {
		if session == "" {
			return fmt.Errorf("a confirmation by a %s needs its session: %w", by.By, ErrMayNot)
		}
		if r.Known(session) {
			return nil
		}
	}
	at := by.Time
	if at.IsZero() {
		at = l.now
	}
	evidence := cmp.Or(withoutPrivate(by.Evidence), r.Text)
	known := r.Times
	r.Item = memory.Confirm(r.Item, memory.Confirmation{Source: l.source(by.From), Evidence: evidence, Time: at})
	if r.Times == known {
		return nil
	}
	if r.Item.State() == memory.Active {
		r.Reason = ""
	}
	if by.By != Check {
		r.Suspended, r.Against = time.Time{}, ""
	}
	r.Removed = time.Time{}
	r.Seen = append(r.Seen, Seen{By: by.By, Session: session, From: by.From.From, To: by.From.To, Time: at})
	r.Seen = r.Seen[max(0, len(r.Seen)-mostSessions):]
	l.noteSession(session)
	if l.set.AutoEscalate && l.due(r) == memory.Escalated {
		_, err := l.escalate(r)
		return err
	}
	return nil
}

// Contradict suspends a rule or an observation: sessions are not told of it until it is confirmed again.
func (b *Book) Contradict(ctx context.Context, idOrText, evidence string, from memory.Source) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) {
		r, err := l.meant(idOrText)
		if err == nil {
			r.Suspended, r.Against = l.now, cmp.Or(oneLine(evidence), "by hand")
			l.noteSession(from.Conversation)
		}
		return r, err
	})
}

// Supersede archives a record that another one replaces. Both name each other.
func (b *Book) Supersede(ctx context.Context, old, by string) (memory.Item, error) {
	return b.put(ctx, func(l *ledger) (*Record, error) {
		was, err := l.named(old)
		if err != nil {
			return nil, err
		}
		is, err := l.named(by)
		if err != nil {
			return nil, err
		}
		if was == is {
			return nil, fmt.Errorf("%s cannot replace itself", was.ID)
		}
		if err := l.archive(was, "superseded by "+is.ID); err != nil {
			return nil, err
		}
		was.Became, is.From = is.ID, was.ID
		return is, nil
	})
}
