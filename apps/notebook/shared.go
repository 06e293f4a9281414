package notebook

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/memory"
)

// The committed files, from the top of the repository. In a merge git keeps the lines of both sides (its
// driver "union"); a record that is there twice is settled when the file is read.
var (
	sharedFile = filepath.Join(".decant", "shared.jsonl")
	attributes = filepath.Join(".decant", ".gitattributes")
)

const unionLine = "shared.jsonl merge=union\n"

// Share puts rules and decisions into the committed file, for all who work on the repository. Everything else
// is personal and stays in the store.
func (b *Book) Share(ctx context.Context, ids []string) ([]Change, error) {
	return b.share(ctx, ids, func(l *ledger, r *Record) error {
		if !r.Shareable() {
			return fmt.Errorf("%s is of the kind %s: rules and decisions are shared, other records are personal", r.ID, r.Kind)
		}
		r.Shared = true
		l.line(r.ID, wanted)
		return nil
	})
}

// Unshare takes records out of this working tree's file. They stay in this notebook.
func (b *Book) Unshare(ctx context.Context, ids []string) ([]Change, error) {
	return b.share(ctx, ids, func(l *ledger, r *Record) error {
		r.Shared = false
		l.line(r.ID, unwanted)
		return nil
	})
}

func (b *Book) share(ctx context.Context, ids []string, do func(*ledger, *Record) error) ([]Change, error) {
	err := b.change(ctx, false, func(l *ledger) error {
		for _, id := range ids {
			r, err := l.named(id)
			if err == nil {
				err = do(l, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.project(ctx)
}

// Trust sets whether rules that others share apply at once. Otherwise each needs a yes: who may write to a
// repository may not yet tell an agent what to do.
func (b *Book) Trust(ctx context.Context, on bool) error {
	return b.change(ctx, false, func(l *ledger) error { l.state().Trusts = on; return nil })
}

// What the base has for a line that is to be added or removed, in place of the sums of the line and its record.
const (
	wanted   = "+"
	unwanted = "-"
)

// line sets the base of a line.
func (l *ledger) line(id, known string) {
	p := l.pages()[sharedKey]
	if p.Base == nil {
		p.Base = map[string]string{}
	}
	p.Base[id] = known
	l.pages()[sharedKey] = p
}

// A sharer merges the committed file and the records.
type sharer struct {
	l    *ledger
	base map[string]string // by record: the sums of its line and of the record when both were last in step
	read []string
}

// file applies what others changed in the file, and returns its new text. It does not add a record that the
// file lacks unless somebody shares it: another branch may be checked out.
func (s *sharer) file(disk string) string {
	lines, tidy, bad := parseShared(disk)
	newest := map[string]sharedLine{}
	for i := range lines {
		id := lines[i].ID
		if sum, _, _ := strings.Cut(s.base[id], " "); sum != lines[i].Sum() {
			s.take(&lines[i])
		}
		newest[id] = lines[i]
	}
	for _, id := range slices.Sorted(maps.Keys(s.base)) {
		line, there := newest[id]
		r := s.l.byID(id)
		_, sum, _ := strings.Cut(s.base[id], " ")
		switch own := lineOf(r); {
		case s.base[id] == unwanted:
			delete(newest, id)
			tidy = tidy && !there
		case r == nil || !r.Shared:
		case s.base[id] == wanted && !there, there && sum != own.Sum() && own.Changed.After(line.Changed):
			newest[id], tidy = own, false
		}
	}
	if len(bad) > 0 {
		const mend = "%s:%d: not a record: mend the line; until then nothing is written there"
		s.read = append(s.read, fmt.Sprintf(mend, sharedFile, bad[0]))
		return disk
	}
	if tidy {
		return disk
	}
	return joinShared(slices.Collect(maps.Values(newest)))
}

// lineOf returns the line of a record, or an empty one for nil.
func lineOf(r *Record) sharedLine {
	if r == nil {
		return sharedLine{}
	}
	return sharedLineOf(r)
}

// known returns the sums of the lines in the file now, and of their records.
func (s *sharer) known(disk string) map[string]string {
	lines, _, _ := parseShared(disk)
	out := map[string]string{}
	for i := range lines {
		own := lineOf(s.l.byID(lines[i].ID))
		out[lines[i].ID] = lines[i].Sum() + " " + own.Sum()
	}
	for id, is := range s.base { // shared or unshared since the file was read
		if _, there := out[id]; is == wanted && !there || is == unwanted && there {
			out[id] = is
		}
	}
	return out
}

// take applies a line that somebody wrote.
func (s *sharer) take(line *sharedLine) {
	r := s.l.byID(line.ID)
	if r == nil {
		s.fresh(line)
		return
	}
	own := lineOf(r)
	_, sum, _ := strings.Cut(s.base[line.ID], " ")
	// An edit in the file leaves the time of the last change as it is.
	byHand := sum == own.Sum() && line.Changed.Equal(own.Changed) && *line != own
	if !r.Shared || own.Compare(line) >= 0 && !byHand {
		return
	}
	if line.Text != r.Text && r.Kind == memory.KindRule && !s.l.own.Trusts && !byHand {
		s.ask(line) // somebody else's words
		return
	}
	changed := line.Changed
	if byHand {
		changed = s.l.now
	}
	if err := s.l.rewrite(r, line.Text); err != nil {
		s.read = append(s.read, fmt.Sprintf("%s: %s: not read: %v", sharedFile, line.ID, err))
		return
	}
	r.Why, r.Revisit, r.Changed = oneLine(line.Why), oneLine(line.Revisit), s.l.seen(changed)
	s.archived(r, line)
	s.read = append(s.read, fmt.Sprintf("%s: changed %s %s", sharedFile, r.ID, r.Text))
}

// archived applies whether a line is archived.
func (s *sharer) archived(r *Record, line *sharedLine) {
	switch is := r.Item.State() == memory.Archived; {
	case line.Archived && !is:
		r.Item.Archived, r.Reason = later(r.Changed, r.Restored.Add(time.Microsecond)), oneLine(line.Reason)
	case !line.Archived && is:
		r.Item.Restored, r.Reason = later(r.Changed, r.Item.Archived), ""
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fresh makes a record of an unknown line. A rule needs a yes, unless lines are trusted.
func (s *sharer) fresh(line *sharedLine) {
	if line.Kind == memory.KindRule && s.l.saying(memory.KindRule, line.Text) != nil {
		return // it is a rule already
	}
	if line.Kind == memory.KindRule && !s.l.state().Trusts {
		if !line.Archived {
			s.ask(line)
		}
		return
	}
	text, at := withoutPrivate(line.Text), s.l.seen(line.Created)
	it, err := memory.New(line.ID, line.Kind, s.l.scope, text, memory.Source{}, at)
	if err != nil {
		s.read = append(s.read, fmt.Sprintf("%s: %s: not read: %v", sharedFile, line.ID, err))
		return
	}
	r := &Record{Item: it, Detail: Detail{Shared: true, Why: oneLine(line.Why), Revisit: oneLine(line.Revisit)}}
	if !line.Changed.IsZero() {
		r.Changed = s.l.seen(line.Changed)
	}
	if r.Kind == memory.KindRule {
		r.Number = s.l.nextRule()
	} else {
		r.Type = DecisionType
	}
	s.archived(r, line)
	s.l.records = append(s.l.records, r)
	s.read = append(s.read, fmt.Sprintf("%s: added %s %s", sharedFile, r.ID, r.Text))
}

// ask makes an observation of a line, to review.
func (s *sharer) ask(line *sharedLine) {
	id := recordID(memory.KindObservation, line.Text, time.Time{}, s.l.scope.Name+line.ID) // other checkouts ask, too
	if s.l.byID(id) != nil {
		return // asked already, whatever the answer
	}
	it, err := memory.New(id, memory.KindObservation, s.l.scope, withoutPrivate(line.Text), memory.Source{}, s.l.now)
	if err != nil {
		return
	}
	detail := Detail{Shares: line.ID, Offer: FromFile, Why: oneLine(line.Why), Changed: line.Changed}
	r := &Record{Item: it, Detail: detail}
	s.l.records = append(s.l.records, r)
	s.read = append(s.read, fmt.Sprintf("%s: %s is to review: %s", sharedFile, r.ID, r.Text))
}

// mostShared is the size limit of the committed file, in bytes. Anybody may write it, and its records are
// compared with each other.
const mostShared = 1 << 20

// readShared returns the committed file, or nil.
func (b *Book) readShared() ([]byte, error) {
	text, err := b.tree().Read(sharedFile)
	if len(text) > mostShared {
		path := filepath.Join(b.repo.Root, sharedFile)
		err = fmt.Errorf("%s: it is larger than %d MB: take records out of it", path, mostShared>>20)
	}
	return text, err
}

// writeShared writes the committed file if it changes, and the attributes that tell git how to merge it.
func (b *Book) writeShared(disk []byte, text string) ([]Change, error) {
	if text == string(disk) {
		return nil, nil
	}
	var out []Change
	have, err := b.tree().Read(attributes)
	if err == nil && !strings.Contains(string(have), strings.TrimSpace(unionLine)) {
		out, err = b.replace(out, attributes, have, string(have)+unionLine)
	}
	if err == nil && !b.o.DryRun {
		err = b.tree().Replace(sharedFile, disk, []byte(text))
	}
	if err != nil {
		return nil, err
	}
	return append(out, Change{sharedFile, string(disk), text}), nil
}
