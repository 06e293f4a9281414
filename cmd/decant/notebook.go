package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/notebook"
	"github.com/decantdev/decant/internal/notebook/record"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/memory"
)

type notebookCmd struct {
	Init       notebookInitCmd       `cmd:"" help:"Begin a notebook for this repository, and print the lines by which cron keeps it."`
	Observe    notebookObserveCmd    `cmd:"" help:"Note a pattern."`
	Confirm    notebookConfirmCmd    `cmd:"" help:"Confirm an observation or a rule, by its id or its text."`
	Add        notebookAddCmd        `cmd:"" help:"Add a rule, or with --decision a decision."`
	Task       notebookTaskCmd       `cmd:"" help:"Note a task that is begun."`
	Done       notebookDoneCmd       `cmd:"" help:"Note that a task is completed."`
	Review     notebookReviewCmd     `cmd:"" help:"Say which observations become rules, one after the other."`
	List       notebookListCmd       `cmd:"" help:"List what is in the notebook."`
	Search     notebookSearchCmd     `cmd:"" help:"Search the notebook, archives too."`
	Show       notebookShowCmd       `cmd:"" aliases:"why" help:"Print a record with where it is known from."`
	Edit       notebookEditCmd       `cmd:"" help:"Change the text of a record."`
	Forget     notebookForgetCmd     `cmd:"" help:"Archive a record; decant memory forget removes it without a trace."`
	Suspend    notebookSuspendCmd    `cmd:"" help:"Note what contradicts a rule: no session is told it until it is confirmed again."`
	Restore    notebookRestoreCmd    `cmd:"" help:"Take a record into use again."`
	Scan       notebookScanCmd       `cmd:"" help:"Read the files, make the scans that are due, and write the files."`
	Compact    notebookCompactCmd    `cmd:"" name:"compress-context" help:"Archive observations and tasks now."`
	Status     notebookStatusCmd     `cmd:"" help:"Say how the notebook is doing."`
	Opening    notebookOpeningCmd    `cmd:"" help:"Print what a session is told when it begins."`
	Learn      notebookLearnCmd      `cmd:"" help:"Take over what the sessions of this repository say: what you asked for again, what was done."`
	Import     notebookImportCmd     `cmd:"" help:"Take over what stands in CLAUDE.md, DONE.md, or claude-mem's database, for your yes. They stay as they are."`
	Publish    notebookPublishCmd    `cmd:"" help:"Write the rules to .claude/rules/decant.md, for agents without the plugin, and keep them there."`
	Card       notebookCardCmd       `cmd:"" help:"Print what one recorded session took, and what its compactions brought."`
	Skill      notebookSkillCmd      `cmd:"" help:"Print a procedure that repeats as a SKILL.md."`
	Candidates notebookCandidatesCmd `cmd:"" help:"Show what you told agents again and again, from the sessions that they have recorded."`
	Report     notebookReportCmd     `cmd:"" help:"Sum up a month: sessions, tokens, tasks, cost, and what you had to say again."`
	Hook       notebookHookCmd       `cmd:"" help:"Answer a hook of Claude Code, whose description is read from standard input. The plugin uses it."`
	Share      notebookShareCmd      `cmd:"" help:"Put rules and decisions into .decant/shared.jsonl, which is committed: all who work on the repository have them."`
	On         notebookOnCmd         `cmd:"" help:"Switch the notebook on."`
	Off        notebookOffCmd        `cmd:"" help:"Switch the notebook off: nothing is recorded."`
}

type notebookInitCmd struct {
	Backfill age `placeholder:"AGE" help:"Read the sessions of the last 30d, 12h, ... that agents have recorded in this repository, and show what could become a rule."`
	notebookFlag
}

// Run makes the folder of the notebook.
func (c *notebookInitCmd) Run(s *streams) error {
	return c.book(func(ctx context.Context, b *notebook.Book) error {
		found, err := b.Unwritten()
		if err != nil {
			return inputError{err}
		}
		if len(found) > 0 && !c.DryRun {
			s.note("%s has %s already: run it with --dry-run to see the difference", b.Dir(), strings.Join(found, ", "))
			if !s.asks() || !s.confirm("Take the files over?") {
				return usageError{errors.New("nothing was changed")}
			}
		}
		r, err := b.Init(ctx)
		if err != nil {
			return err
		}
		if c.Backfill > 0 {
			if err := c.backfill(ctx, s, b); err != nil {
				return err
			}
			if c.DryRun {
				r, err = b.Sync(ctx)
			}
		}
		if err != nil {
			return err
		}
		if c.DryRun {
			return printChanges(s, r.Changes)
		}
		c.notes(s, b.Settings())
		fmt.Fprintf(s.out, "The notebook's files are in %s.\nScans are made when a session begins. To have cron make them:\n\n  0 0 * * 0  cd %s && decant notebook scan\n  0 0 1 * *  cd %s && decant notebook scan\n",
			b.Dir(), quoteShell(b.Root()), quoteShell(b.Root()))
		return nil
	})
}

// mostShown is how many observations are shown behind a backfill.
const mostShown = 20

// backfill learns from the sessions that there are, and shows what they have brought.
func (c *notebookInitCmd) backfill(ctx context.Context, s *streams, b *notebook.Book) error {
	l, err := learn(ctx, s, b, nil, c.Backfill.since(time.Now()))
	if err != nil {
		return err
	}
	if l.Sessions == 0 {
		s.note("no sessions of Claude Code, Codex or pi from that time are about %s", b.Root())
		return nil
	}
	if err := writeLearned(s, l); err != nil {
		return err
	}
	offered, err := b.Offered(ctx)
	if err != nil {
		return err
	}
	s.blank()
	for _, r := range offered[:min(len(offered), mostShown)] {
		writeOffer(s, r)
	}
	if n := len(offered); n > 0 {
		fmt.Fprintf(s.out, "\n%s for your yes: decant notebook review\n\n", report.Count(n, "observation"))
	}
	return nil
}

type notebookObserveCmd struct {
	Text    string `arg:"" help:"What was seen."`
	Session string `placeholder:"ID" help:"Session that it is known from."`
	notebookFlag
}

// Run notes a pattern.
func (c *notebookObserveCmd) Run(s *streams) error {
	return c.item(s, func(ctx context.Context, b *notebook.Book) (memory.Item, error) {
		return b.Observe(ctx, c.Text, memory.Source{Conversation: c.Session})
	})
}

type notebookConfirmCmd struct {
	Name     string `arg:"" name:"text-or-id" help:"Id, or a text that says the same."`
	Evidence string `placeholder:"TEXT" help:"What was said."`
	notebookFlag
}

// Run confirms a record by hand.
func (c *notebookConfirmCmd) Run(s *streams) error {
	return c.item(s, func(ctx context.Context, b *notebook.Book) (memory.Item, error) {
		return b.Confirm(ctx, c.Name, notebook.Confirmation{By: record.Hand, Evidence: c.Evidence})
	})
}

type notebookAddCmd struct {
	Text       string `arg:"" help:"The rule or the decision."`
	Why        string `placeholder:"TEXT" help:"The reason."`
	Decision   bool   `help:"It is a decision."`
	Revisit    string `placeholder:"DATE" help:"When the decision is looked at again."`
	Supersedes string `placeholder:"ID" help:"Record whose place it takes."`
	notebookFlag
}

// Run adds a rule or a decision.
func (c *notebookAddCmd) Run(s *streams) error {
	return c.item(s, func(ctx context.Context, b *notebook.Book) (it memory.Item, err error) {
		if c.Decision {
			it, err = b.Decide(ctx, c.Text, c.Why, c.Revisit, memory.Source{})
		} else {
			it, err = b.AddRule(ctx, c.Text, c.Why, memory.Source{})
		}
		if err == nil && c.Supersedes != "" {
			it, err = b.Supersede(ctx, c.Supersedes, it.ID)
		}
		return it, err
	})
}

type notebookTaskCmd struct {
	Text string `arg:"" help:"The task; \"TASK-42: TEXT\" names it."`
	notebookFlag
}

// Run notes a task.
func (c *notebookTaskCmd) Run(s *streams) error {
	return c.item(s, func(ctx context.Context, b *notebook.Book) (memory.Item, error) {
		return b.Task(ctx, c.Text, memory.Source{})
	})
}

type notebookDoneCmd struct {
	Name     string   `arg:"" name:"task" help:"Name or id of the task, or the text of a new one."`
	Outcome  string   `help:"What has come of it."`
	Files    int      `help:"How many files it has changed."`
	Estimate int      `help:"Tokens that it was estimated to take."`
	Tokens   int      `help:"Tokens that it has taken."`
	Commit   []string `placeholder:"SHA" help:"Its commits."`
	Tests    string   `help:"How the tests went."`
	Issues   string   `help:"What went wrong."`
	Pattern  string   `help:"The pattern that it follows."`
	notebookFlag
}

// Run notes that a task is completed.
func (c *notebookDoneCmd) Run(s *streams) error {
	t := record.Task{Outcome: c.Outcome, Files: c.Files, Estimate: c.Estimate, Tokens: c.Tokens, Commits: c.Commit, Tests: c.Tests, Issues: c.Issues, Pattern: c.Pattern}
	return c.item(s, func(ctx context.Context, b *notebook.Book) (memory.Item, error) {
		return b.Done(ctx, c.Name, t, memory.Source{})
	})
}

type notebookListCmd struct {
	Kind     string `default:"any" enum:"any,observation,rule,task,memory" help:"Only this kind: observation, rule, task or memory."`
	Archived bool   `help:"Also list what is archived."`
	notebookFlag
}

// Run lists records.
func (c *notebookListCmd) Run(s *streams) error {
	return c.list(s, notebook.Query{Archived: c.Archived}, c.Kind)
}

// list prints records.
func (f *notebookFlag) list(s *streams, q notebook.Query, kind string) error {
	if kind != "any" {
		q.Kinds = []memory.Kind{memory.Kind(kind)}
	}
	return f.book(func(ctx context.Context, b *notebook.Book) error {
		items, err := b.Items(ctx, q)
		if err != nil {
			return err
		}
		if f.JSON {
			return writeJSON(s.out, items)
		}
		if len(items) == 0 {
			s.note("nothing yet: decant notebook observe TEXT")
		}
		for i := range items {
			fmt.Fprintf(s.out, "%s  %-11s  %-9s  %2d  %s\n", items[i].ID, items[i].Kind, items[i].State(), items[i].Times, report.Visible(items[i].Text))
		}
		return nil
	})
}

type notebookSearchCmd struct {
	Words []string `arg:"" help:"Words, best matches first."`
	notebookFlag
}

// Run searches records.
func (c *notebookSearchCmd) Run(s *streams) error {
	return c.list(s, notebook.Query{Archived: true, Text: strings.Join(c.Words, " ")}, "any")
}

type notebookShowCmd struct {
	ID string `arg:"" help:"Id, the beginning of one, a rule's number (#3), or a task's name."`
	notebookFlag
}

// Run prints a record.
func (c *notebookShowCmd) Run(s *streams) error {
	return c.book(func(ctx context.Context, b *notebook.Book) error {
		r, err := b.Find(ctx, c.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			it, err := r.Packed()
			return errors.Join(err, writeJSON(s.out, it))
		}
		if err := writeRecord(s, r); err != nil {
			return err
		}
		return writeMessage(s, r)
	})
}

type notebookEditCmd struct {
	ID   string `arg:"" help:"Id of the record."`
	Text string `arg:"" optional:"" help:"The new text."`
	Why  string `placeholder:"TEXT" help:"The new reason."`
	notebookFlag
}

// Run changes a record.
func (c *notebookEditCmd) Run(s *streams) error {
	return c.item(s, func(ctx context.Context, b *notebook.Book) (memory.Item, error) {
		return b.Edit(ctx, c.ID, c.Text, c.Why)
	})
}

type notebookForgetCmd struct {
	ID string `arg:"" help:"Id of the record."`
	notebookFlag
}

// Run archives a record.
func (c *notebookForgetCmd) Run(s *streams) error {
	return c.item(s, func(ctx context.Context, b *notebook.Book) (memory.Item, error) {
		return b.Archive(ctx, c.ID, "by hand")
	})
}

type notebookSuspendCmd struct {
	ID       string `arg:"" help:"Id of the rule or observation."`
	Evidence string `arg:"" optional:"" help:"What contradicts it."`
	notebookFlag
}

// Run suspends a rule.
func (c *notebookSuspendCmd) Run(s *streams) error {
	return c.item(s, func(ctx context.Context, b *notebook.Book) (memory.Item, error) {
		return b.Contradict(ctx, c.ID, c.Evidence, memory.Source{})
	})
}

type notebookRestoreCmd struct {
	ID string `arg:"" help:"Id of the record."`
	notebookFlag
}

// Run restores a record.
func (c *notebookRestoreCmd) Run(s *streams) error {
	return c.item(s, func(ctx context.Context, b *notebook.Book) (memory.Item, error) { return b.Restore(ctx, c.ID) })
}

type notebookOnCmd struct{ notebookFlag }

// Run switches the notebook on.
func (c *notebookOnCmd) Run(*streams) error {
	return c.book(func(ctx context.Context, b *notebook.Book) error { return b.Switch(ctx, true) })
}

type notebookOffCmd struct{ notebookFlag }

// Run switches the notebook off.
func (c *notebookOffCmd) Run(*streams) error {
	return c.book(func(ctx context.Context, b *notebook.Book) error { return b.Switch(ctx, false) })
}

type notebookOpeningCmd struct {
	Tokens int `default:"2000" help:"Most tokens (${default})."`
	notebookFlag
}

// Run prints what a session is told.
func (c *notebookOpeningCmd) Run(s *streams) error {
	return c.book(func(ctx context.Context, b *notebook.Book) error {
		text, err := b.Opening(ctx, c.Tokens)
		return errors.Join(err, s.say(text))
	})
}

type notebookStatusCmd struct{ notebookFlag }

// Run says how the notebook is doing.
func (c *notebookStatusCmd) Run(s *streams) error {
	return c.book(func(ctx context.Context, b *notebook.Book) error {
		st, err := b.State(ctx)
		if err != nil {
			return err
		}
		ready, err := b.Ready(ctx)
		if err != nil {
			return err
		}
		st.Trees = nil
		if c.JSON {
			return writeJSON(s.out, st)
		}
		c.notes(s, b.Settings())
		on := "on"
		if st.Off || !b.Settings().Enabled {
			on = "off"
		}
		_, err = fmt.Fprintf(s.out, "folder        %s\nnotebook      %s\nsessions      %d\nwait for yes  %d (decant notebook review)\nlast weekly   %s\nlast monthly  %s\n",
			b.Dir(), on, st.Sessions, len(ready), st.Weekly.Local().Format(time.DateOnly), st.Monthly.Local().Format(time.DateOnly))
		return err
	})
}
