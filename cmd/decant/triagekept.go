package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/decantdev/decant/internal/chat"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/sample"
	"github.com/decantdev/decant/store"
)

// archive opens what runs have kept, and nothing else: it can be read where neither settings, their repositories nor a
// model are at hand. The caller closes what it returns, also beside an error.
func (f *triageFlags) archive(ctx context.Context) (*triageRoom, error) {
	r := &triageRoom{set: &triage.Settings{}, variable: f.variable}
	o := &chat.Options{Project: &project.Project{}}
	var err error
	if o.Catalog, err = f.models(); err != nil {
		return r, err
	}
	if err := f.store(ctx, r, o); err != nil {
		return r, err
	}
	r.options = triage.Options{Journals: r.db.Store()}
	return r, nil
}

// archived does something with what runs have kept.
func (f *triageFlags) archived(do func(context.Context, *triageRoom) error) (err error) {
	ctx, stop := interruptible()
	defer stop()
	room, err := f.archive(ctx)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return err
	}
	return do(ctx, room)
}

// kept opens a run that was kept, with the repositories whose code it has read and, where talks is set, with a model, and does something with it.
func (f *triageFlags) kept(ctx context.Context, s *streams, run string, talks bool, do func(*triageRoom, *triage.Run) error) (err error) {
	set, err := f.settings(s)
	if err != nil {
		return err
	}
	taken, id, err := f.begunOn(ctx, run)
	if err != nil {
		return err
	}
	room, err := f.open(ctx, taken, set, talks)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return err
	}
	r, err := triage.Open(ctx, room.options, id)
	if err != nil {
		return noRun(err)
	}
	return do(room, r)
}

// begunOn returns the sample that a run was begun on, nil for none, and the id of the run.
func (f *triageFlags) begunOn(ctx context.Context, run string) (s *sample.Sample, id string, err error) {
	room, err := f.archive(ctx)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return nil, "", err
	}
	r, err := triage.Open(ctx, room.options, latest(run))
	if err != nil {
		return nil, "", noRun(err)
	}
	s, err = sampled(r.Sample())
	return s, r.ID(), err
}

// sampled returns the sample that a run was begun on, nil for none.
func sampled(name string) (s *sample.Sample, err error) {
	switch name {
	case "":
		return nil, nil
	case triage.BundledSample:
		s, err = sample.Bundled()
	default:
		s, err = sample.Open(name)
	}
	if err != nil {
		return nil, inputError{err}
	}
	return s, nil
}

// numbered splits a name such as RUN#2. An empty run is the newest one.
func numbered(name string) (run string, n int, err error) {
	run, digits, ok := strings.Cut(name, "#")
	if _, err := fmt.Sscanf(digits, "%d", &n); !ok || err != nil || n < 1 {
		return "", 0, usageError{fmt.Errorf("%q names no error of a run: write RUN#2, or last#2", name)}
	}
	return latest(run), n, nil
}

// latest returns the name of a run as triage.Open takes it.
func latest(run string) string {
	if run == "last" {
		return ""
	}
	return run
}

// noRun makes an error about a run that is not there one of input.
func noRun(err error) error {
	if errors.Is(err, triage.ErrNoRun) || errors.Is(err, triage.ErrUnknown) || errors.Is(err, store.ErrNotFound) {
		return inputError{fmt.Errorf("%w (decant triage runs lists them)", err)}
	}
	return err
}
