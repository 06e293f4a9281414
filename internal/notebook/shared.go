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

// The files of the shared scope, from the top of the repository. Git takes the lines of both sides of a merge (its driver
// "union"); what then stands there twice is settled when it is read.
var (
	sharedFile = filepath.Join(".decant", "shared.jsonl")
	attributes = filepath.Join(".decant", ".gitattributes")
)

const unionLine = "shared.jsonl merge=union\n"

// Share puts rules and decisions into the file that is committed with the repository, so that all who work on it have them.
// Everything else is personal: it stays in the store.
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

// Unshare takes records out of the file of this working tree again. They stay in this notebook.
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

// Trust says whether rules hold at once that others have shared. Without it each waits for a yes: who may write to a
// repository may not yet tell an agent what to do.
func (b *Book) Trust(ctx context.Context, on bool) error {
	return b.change(ctx, false, func(l *ledger) error { l.state().Trusts = on; return nil })
}

// What is to become of a line of the file, where the sums of the line and its record are known otherwise.
const (
	wanted   = "+"
	unwanted = "-"
)

// line notes what is known of a line.
func (l *ledger) line(id, known string) {
	p := l.pages()[SharedFile]
	if p.Base == nil {
		p.Base = map[string]string{}
	}
	p.Base[id] = known
	l.pages()[SharedFile] = p
}

// A sharer brings the committed file and the records together.
type sharer struct {
	l    *ledger
	base map[string]string // by record: the sums of its line and of the record, when they were last seen together
	read []string
}

// file takes over what others have changed in the file, and returns what it should hold. A record that the file does not
// have is not written into it unless somebody shares it: another branch may be checked out.
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
		s.read = append(s.read, fmt.Sprintf("%s:%d: not a record: mend the line; until then nothing is written there", sharedFile, bad[0]))
		return disk
	}
	if tidy {
		return disk
	}
	return joinShared(slices.Collect(maps.Values(newest)))
}

// lineOf returns a record as a line; of none an empty one.
func lineOf(r *Record) sharedLine {
	if r == nil {
		return sharedLine{}
	}
	return sharedLineOf(r)
}

// known returns the sums of what the file holds now and of its records.
func (s *sharer) known(disk string) map[string]string {
	lines, _, _ := parseShared(disk)
	out := map[string]string{}
	for i := range lines {
		own := lineOf(s.l.byID(lines[i].ID))
		out[lines[i].ID] = lines[i].Sum() + " " + own.Sum()
	}
	for id, is := range s.base { // somebody has said so since the file was read
		if _, there := out[id]; is == wanted && !there || is == unwanted && there {
			out[id] = is
		}
	}
	return out
}

// take takes over a line that somebody has written.
func (s *sharer) take(line *sharedLine) {
	r := s.l.byID(line.ID)
	if r == nil {
		s.fresh(line)
		return
	}
	own := lineOf(r)
	_, sum, _ := strings.Cut(s.base[line.ID], " ")
	byHand := sum == own.Sum() && line.Changed.Equal(own.Changed) && *line != own // edited in the file, which has nothing that notes when
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

// archived takes over whether a line is in use.
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

// fresh makes a record of a line that is not known here. A rule waits for a yes, unless lines are trusted.
func (s *sharer) fresh(line *sharedLine) {
	if line.Kind == memory.KindRule && s.l.saying(memory.KindRule, line.Text) != nil {
		return // it is told already
	}
	if line.Kind == memory.KindRule && !s.l.state().Trusts {
		if !line.Archived {
			s.ask(line)
		}
		return
	}
	it, err := memory.New(line.ID, line.Kind, s.l.scope, withoutPrivate(line.Text), memory.Source{}, s.l.seen(line.Created))
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

// ask makes an observation of a line, which waits for a yes.
func (s *sharer) ask(line *sharedLine) {
	id := recordID(memory.KindObservation, line.Text, time.Time{}, line.ID)
	if s.l.byID(id) != nil {
		return // asked already, whatever came of it
	}
	it, err := memory.New(id, memory.KindObservation, s.l.scope, withoutPrivate(line.Text), memory.Source{}, s.l.now)
	if err != nil {
		return
	}
	r := &Record{Item: it, Detail: Detail{Shares: line.ID, Offer: FromFile, Why: oneLine(line.Why), Changed: line.Changed}}
	s.l.records = append(s.l.records, r)
	s.read = append(s.read, fmt.Sprintf("%s: %s waits for a yes: %s", sharedFile, r.ID, r.Text))
}

// mostShared is how many bytes the committed file may have. Anybody may write it, and each of its thousands of records is compared with others.
const mostShared = 1 << 20

// readShared returns the committed file; nil: there is none.
func (b *Book) readShared() ([]byte, error) {
	text, err := b.tree().Read(sharedFile)
	if len(text) > mostShared {
		err = fmt.Errorf("%s: it is larger than %d MB: take records out of it", filepath.Join(b.repo.Root, sharedFile), mostShared>>20)
	}
	return text, err
}

// writeShared writes the committed file if it changes, and what tells git how to merge it.
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
