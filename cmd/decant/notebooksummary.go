package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/notebook"
	"github.com/decantdev/decant/internal/notebook/settings"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// How much a model that sums up a session is told and may say, and how long it may take.
const (
	mostTold    = 60_000 // tokens, of the newest messages
	mostSummary = 1_500  // tokens
	summaryTime = 2 * time.Minute
)

// archive notes in CONTEXT_ARCHIVE.md what a session has come to. The entry is quoted from calls and results. Where a model is
// configured for own calls, it then writes the summary; if it fails, what is quoted stays.
func (f *notebookFlag) archive(ctx context.Context, s *streams, b *notebook.Book, file *sessionFile) error {
	one, err := readSession(s, file)
	if err == nil {
		err = b.Checkpoint(ctx, &one)
	}
	if err != nil || f.DryRun {
		return err
	}
	cfg, err := f.settings()
	if err != nil {
		return err
	}
	if !cfg.Summary.Configured() {
		return nil
	}
	text, err := f.ask(ctx, s, cfg, b.Settings(), file)
	if err == nil {
		err = b.Summarize(ctx, &one, text)
	}
	if err != nil {
		s.warn(err)
		s.note("no model has summed up the session: its entry stands as it was quoted from calls and results")
	}
	return nil
}

// notes says which keys of the notebook's settings are not in force, and what to do about it.
func (f *notebookFlag) notes(s *streams, set settings.Settings) {
	if l := set.Gateway(); l != "" {
		s.note("%s", l)
	}
	if c, err := f.settings(); err == nil && c.Summary.Configured() {
		return
	}
	for _, l := range set.Unheeded() {
		s.note("%s", l)
	}
}

// ask has the configured model sum up a session.
func (f *notebookFlag) ask(ctx context.Context, s *streams, cfg *config.Config, set settings.Settings, file *sessionFile) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, summaryTime)
	defer cancel()
	doc, err := s.document(file.path, string(file.format))
	if err != nil {
		return "", err
	}
	db, err := f.open(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	asker, err := f.asker(cfg, db)
	if err != nil {
		return "", err
	}
	catalog, err := token.Builtin()
	if err != nil {
		return "", err
	}
	r := &provider.Request{System: set.Ask(), Prompt: spoken(doc, mostTold), MaxTokens: mostSummary, Cool: true}
	if m, known := catalog.Lookup(set.Model); known {
		r.Model = m.ID
	} else if set.Model != "" {
		s.note("compaction.summaryModel: %q is not the id of a known model: the one of summary.model in Decant's settings is asked", set.Model)
	}
	tenant, err := f.Tenant.one(ctx, db)
	if err != nil {
		return "", err
	}
	a, err := asker.Ask(ctx, provider.Cause{Conversation: store.Key{Tenant: tenant}, Purpose: provider.ForRecord}, r)
	if err != nil {
		return "", err
	}
	return secret.Mask(a.Text), nil
}

// asker returns what asks the configured model.
func (f *notebookFlag) asker(cfg *config.Config, db store.Store) (provider.Asker, error) {
	p, err := presetAt(cfg.Preset, cfg.Early)
	if err != nil {
		return nil, err
	}
	o := engine.Options{Preset: p, Budgets: budgetsOf(cfg)}
	if err := intoCommand(cfg, &o, db); err != nil {
		return nil, err
	}
	return o.Models.Asker, nil
}

// spoken returns what was said in a session, the newest in at most so many tokens, without the output of tools.
func spoken(doc *wire.Document, most int) string {
	count := token.For(token.Model{}).Count
	var lines []string
	ms := doc.Conversation.Messages
	for i := len(ms) - 1; i >= 0 && most > 0; i-- {
		text := secret.Mask(strings.TrimSpace(ms[i].Text(decant.KindText)))
		if text == "" {
			continue
		}
		if most -= count(text); most < 0 {
			break
		}
		lines = append(lines, string(ms[i].Role)+": "+text)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n\n")
}
