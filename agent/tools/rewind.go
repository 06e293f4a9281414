package tools

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ErrChanged means that files hold something else than the calls that are to be taken back have left in them.
var ErrChanged = errors.New("files have changed since")

// A Rewound is what Rewind has done.
type Rewound struct {
	ID    string   // Rewind of it makes the changes again
	Files []string // that are now what they were, as the project names them
}

// Rewind takes back what calls of write and edit have changed, by their ids: each file becomes what it was before the first of
// them. Calls that changed no file are passed over. A file that a later call, a command or a person has changed since makes it fail with
// ErrChanged, and then no file is touched. What commands of bash have changed is not kept and cannot be taken back.
func (s *Set) Rewind(calls ...string) (r Rewound, err error) {
	s.change.Lock()
	defer s.change.Unlock()
	var todo []restore
	var changed []string
	for _, name := range s.keep.touched(calls) {
		next, err := s.restore(name, calls)
		if errors.Is(err, ErrChanged) {
			changed = append(changed, name)
			continue
		}
		if err != nil {
			return r, err
		}
		todo = append(todo, next)
	}
	if len(changed) > 0 {
		return r, fmt.Errorf("%w: %s", ErrChanged, strings.Join(changed, ", "))
	}
	calls = slices.Clone(calls) // what is kept of them must stay as it is
	r.ID = "rewind-" + rand.Text()
	for _, t := range todo {
		if err := s.keep.change(r.ID, t.name, t.now, t.was, calls); err != nil {
			return r, err
		}
		if t.now.exists || t.was.exists {
			err = s.files.store(t.name, t.was)
		}
		if err != nil {
			return r, err
		}
		r.Files = append(r.Files, filepath.ToSlash(t.name))
	}
	return r, nil
}

// A restore is what is to be done to a file.
type restore struct {
	name     string
	now, was content
}

// restore returns how a file becomes what it was before calls.
func (s *Set) restore(name string, calls []string) (r restore, err error) {
	first, last, ok := s.keep.span(name, calls)
	if !ok {
		return r, ErrChanged
	}
	r.name = name
	if r.now, err = s.files.load(name); err != nil {
		return r, err
	}
	if r.was, err = s.keep.get(first); err != nil {
		return r, err
	}
	if now := hashOf(r.now); now != last.After && now != first.Before {
		return r, ErrChanged
	}
	return r, nil
}

// touched returns the files that calls have changed, in order of their names.
func (k *keep) touched(calls []string) (out []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, all := range k.entries {
		if slices.ContainsFunc(live(all), func(e entry) bool { return slices.Contains(calls, e.Call) }) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// span returns the first and the last change of a file by calls. There is nothing behind the last one, and nothing of others
// between the two, or it returns false.
func (k *keep) span(name string, calls []string) (first, last entry, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := live(k.entries[name])
	if n := len(all); n > 0 && len(all[n-1].Undoes) > 0 && !slices.Contains(calls, all[n-1].Call) {
		all = all[:n-1] // what was taken back already is no change
	}
	i := slices.IndexFunc(all, func(e entry) bool { return slices.Contains(calls, e.Call) })
	if i < 0 || slices.ContainsFunc(all[i:], func(e entry) bool { return !slices.Contains(calls, e.Call) }) {
		return first, last, false
	}
	return all[i], all[len(all)-1], true
}

// live returns the changes that a file is made of: those that were taken back are gone, and what has taken them back stands there
// as long as it is the newest, so that it can be taken back itself.
func live(all []entry) (out []entry) {
	taken := map[string][]entry{} // by the call that took them back
	for _, e := range all {
		if e.Call == "" {
			continue
		}
		if n := len(out); n > 0 && len(out[n-1].Undoes) > 0 && !slices.Contains(e.Undoes, out[n-1].Call) {
			out = out[:n-1] // what was taken back stays so
		}
		gone := func(o entry) bool { return slices.Contains(e.Undoes, o.Call) }
		for _, o := range out {
			if gone(o) {
				taken[e.Call] = append(taken[e.Call], o)
			}
		}
		out = slices.DeleteFunc(out, gone)
		if again := e.Undoes; len(again) == 1 && taken[again[0]] != nil {
			out = append(out, taken[again[0]]...) // it takes back a taking back
			continue
		}
		out = append(out, e)
	}
	return out
}
