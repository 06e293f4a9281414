package notebook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/memory"
)

// ignore keeps personal files out of commits.
const ignore = "*\n"

// lockName is the file that a process locks to write.
const lockName = ".lock"

// Init makes the folder of the notebook and its files. Files in an existing folder are read as if a person
// had just written them.
func (b *Book) Init(ctx context.Context) (Report, error) {
	if err := b.personal(ctx); err != nil {
		return Report{}, err
	}
	if !b.o.DryRun {
		if err := b.tree().Mkdir(b.o.Settings.Dir, 0o700); err != nil {
			return Report{}, err
		}
		err := b.tree().Replace(b.file(".gitignore"), nil, []byte(ignore))
		if err != nil && !errors.Is(err, errChanged) { // errChanged: there is one
			return Report{}, err
		}
	}
	err := b.change(ctx, true, func(l *ledger) error { l.used(b.repo.Root); return nil })
	if err != nil {
		return Report{}, err
	}
	return b.sync(ctx)
}

// used records that the notebook is used in a working tree.
func (l *ledger) used(root string) {
	if s := l.state(); !slices.Contains(s.Roots, root) {
		s.Roots = append(s.Roots, root)
	}
}

// Sync reads what people changed in the files, and writes the files. Without the folder it does nothing.
func (b *Book) Sync(ctx context.Context) (Report, error) {
	if found, err := b.tree().Has(b.o.Settings.Dir); err != nil || !found && !b.o.DryRun {
		return Report{}, err
	}
	if err := b.personal(ctx); err != nil {
		return Report{}, err
	}
	return b.sync(ctx)
}

// personal returns an error if git tracks the files: others may then have written what sessions would be told
// as the user's rules. A pull silently replaces ignored files.
func (b *Book) personal(ctx context.Context) error {
	if _, err := b.tree().Has(b.o.Settings.Dir); err != nil {
		return err // a link
	}
	var names []string
	for _, name := range fileNames {
		names = append(names, b.file(name))
	}
	tracked, err := b.repo.Tracked(ctx, names)
	if err != nil || len(tracked) == 0 {
		return err
	}
	return fmt.Errorf("%s: git has %s, so others may have written it: a notebook is personal and is not committed. "+
		"Read these files; \"git rm\" of them deletes them, \"git rm --cached\" makes them yours", b.Dir(), strings.Join(tracked, ", "))
}

// Unwritten returns the files in the notebook's folder that no notebook wrote.
func (b *Book) Unwritten() (names []string, err error) {
	if locked, err := b.tree().Has(b.file(lockName)); err != nil || locked {
		return nil, err
	}
	for _, name := range fileNames {
		found, err := b.tree().Has(b.file(name))
		if err != nil {
			return nil, err
		}
		if found {
			names = append(names, name)
		}
	}
	return names, nil
}

// project writes the files after a change.
func (b *Book) project(ctx context.Context) ([]Change, error) {
	r, err := b.Sync(ctx)
	if err != nil {
		return r.Changes, err
	}
	_, err = b.published(ctx)
	return r.Changes, err
}

// mostTries is how often files are read again that an editor changed meanwhile.
const mostTries = 20

func (b *Book) sync(ctx context.Context) (Report, error) {
	if !b.o.DryRun {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		unlock, err := b.tree().Lock(ctx, b.file(lockName))
		if err != nil {
			return Report{}, err
		}
		defer unlock()
	}
	var out Report
	for range mostTries {
		read, changes, err := b.pass(ctx)
		out.Read = append(out.Read, read...)
		out.Changes = append(out.Changes, changes...)
		if !errors.Is(err, errChanged) {
			return out, err
		}
	}
	return out, fmt.Errorf("%s: another process keeps changing its files: %w", b.Dir(), errChanged)
}

// pass reads and writes the files once. If one changed meanwhile, the error is errChanged.
func (b *Book) pass(ctx context.Context) (read []string, changes []Change, err error) {
	disk, err := b.disk()
	if err != nil {
		return nil, nil, err
	}
	files := map[string]renderedFile{}
	shared := ""
	err = b.change(ctx, true, func(l *ledger) error {
		a := readback{l: l, zone: b.o.Now().Location(), count: b.count}
		a.files(disk)
		s := sharer{l: l, base: l.pages()[sharedKey].Base}
		shared = s.file(string(disk[sharedKey]))
		read, files = append(a.read, s.read...), map[string]renderedFile{}
		v := l.view(a.zone, b.count)
		for _, name := range fileNames {
			files[name] = render(name, v, string(disk[name]))
		}
		return nil
	})
	for _, name := range fileNames {
		if err != nil {
			return read, changes, err
		}
		if text := files[name].Text; text != string(disk[name]) || disk[name] == nil {
			if !b.o.DryRun {
				err = b.tree().Replace(b.file(name), disk[name], []byte(text))
			}
			if err == nil {
				changes = append(changes, Change{name, string(disk[name]), text})
			}
		}
	}
	if err == nil {
		var more []Change
		more, err = b.writeShared(disk[sharedKey], shared)
		changes = append(changes, more...)
	}
	if err != nil || b.o.DryRun { // the files are still those that were written before
		return read, changes, err
	}
	return read, changes, b.written(ctx, files, shared)
}

// disk returns the files as they are; nil for a missing one.
func (b *Book) disk() (out map[string][]byte, err error) {
	out = map[string][]byte{}
	for _, name := range fileNames {
		if out[name], err = b.tree().Read(b.file(name)); err != nil {
			return nil, err
		}
	}
	out[sharedKey], err = b.readShared()
	return out, err
}

// written records what the files contain now.
func (b *Book) written(ctx context.Context, files map[string]renderedFile, shared string) error {
	return b.change(ctx, true, func(l *ledger) error {
		pages := l.pages()
		for name, f := range files {
			p := pages[name]
			p.Base = f.Base
			pages[name] = p
		}
		s := sharer{l: l, base: pages[sharedKey].Base}
		pages[sharedKey] = pageState{Base: s.known(shared)}
		return nil
	})
}

// Render returns the files as the store alone makes them.
func (b *Book) Render(ctx context.Context) (map[string]string, error) {
	l, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	l.state()
	v, out := l.view(b.o.Now().Location(), b.count), map[string]string{}
	for _, name := range fileNames {
		out[name] = render(name, v, "").Text
	}
	return out, nil
}

// view returns what files are made from.
func (l *ledger) view(zone *time.Location, count func(string) int) *view {
	v := &view{
		Records: l.records, Pages: l.pages(), Zone: zone,
		Keep: l.set.Triggers.TaskArchive.Keep, Metrics: l.set.Metrics, Unloaded: map[string]int{},
	}
	size := 0
	for i, r := range l.loaded() {
		if size += count(ruleLine(r)); size > l.set.RuleTokens {
			v.Unloaded[r.ID] = i + 1
		}
	}
	return v
}

// loaded returns the rules that a session may be told, in the order of worth.
func (l *ledger) loaded() (out []*Record) {
	for _, r := range l.records {
		if r.Kind == memory.KindRule && r.Item.State() == memory.Active && r.Suspended.IsZero() && r.Removed.IsZero() {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, worth)
	return out
}

func ruleLine(r *Record) string { return fmt.Sprintf("- Rule #%d: %s\n", r.Number, r.Text) }
