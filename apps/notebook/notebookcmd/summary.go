package notebookcmd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// Limits of a summary that a model writes.
const (
	mostTold    = 60_000 // tokens of the newest messages that it reads
	mostSummary = 1_500  // tokens that it writes
	summaryTime = 2 * time.Minute
)

// checkpoint records the state of a session in CONTEXT_ARCHIVE.md, quoted from calls and results. If a model
// is configured for Decant's own calls, it then writes the summary; if that fails, the quoted one stays.
func (f *flags) checkpoint(ctx context.Context, s *process.Process, b *notebook.Book, file *sessionfile.File) error {
	one, err := readSession(s, file)
	if err == nil {
		err = b.Checkpoint(ctx, &one)
	}
	if err != nil || f.DryRun {
		return err
	}
	cfg, err := f.Settings(s)
	if err != nil || !cfg.Summary.Configured() {
		return err
	}
	text, err := f.ask(ctx, s, cfg, b.Settings(), file)
	if err == nil {
		err = b.Summarize(ctx, &one, text)
	}
	if err != nil {
		s.Warn(err)
		s.Note("no model summarized the session: its entry is quoted from calls and results")
	}
	return nil
}

// notes prints which of the notebook's settings have no effect, and what to do about it.
func (f *flags) notes(s *process.Process, set notebook.Settings) {
	for _, l := range []string{set.Gateway(), set.Escalates()} {
		if l != "" {
			s.Note("%s", l)
		}
	}
	if c, err := f.Settings(s); err == nil && c.Summary.Configured() {
		return
	}
	for _, l := range set.Unheeded() {
		s.Note("%s", l)
	}
}

// ask asks the configured model for a summary of a session.
func (f *flags) ask(ctx context.Context, s *process.Process, cfg *config.Config, set notebook.Settings, file *sessionfile.File) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, summaryTime)
	defer cancel()
	doc, err := sessionfile.Read(s, file.Path, string(file.Format))
	if err != nil {
		return "", err
	}
	db, err := f.Open(ctx, s)
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
		s.Note("compaction.summaryModel: unknown model %q; using summary.model of Decant's settings", set.Model)
	}
	tenant, err := f.Tenant.One(ctx, db)
	if err != nil {
		return "", err
	}
	a, err := asker.Ask(ctx, owncalls.Cause{Conversation: store.Key{Tenant: tenant}, Purpose: owncalls.ForRecord}, r)
	if err != nil {
		return "", err
	}
	return secret.Mask(a.Text), nil
}

// asker returns the client of the configured model.
func (f *flags) asker(cfg *config.Config, db store.Store) (owncalls.Asker, error) {
	p, err := setup.Preset(cfg.Preset, cfg.Early)
	if err != nil {
		return nil, err
	}
	o := engine.Options{Preset: p, Budgets: setup.Budgets(cfg)}
	if err := setup.AddOwnCalls(cfg, &o, db); err != nil {
		return nil, err
	}
	return o.Models.Asker, nil
}

// spoken returns the newest texts of a session, in at most so many tokens, without the output of tools.
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
