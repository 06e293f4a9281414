package notebookcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/memory"
)

type addCmd struct {
	Text       string `arg:"" help:"The text. \"TASK-42: TEXT\" names a task; --done also takes the name alone."`
	Decision   bool   `xor:"kind" help:"It is a decision."`
	Task       bool   `xor:"kind" help:"It is an open task."`
	Done       bool   `xor:"kind" help:"It is a completed task."`
	Why        string `placeholder:"TEXT" help:"The reason for a rule or a decision."`
	Revisit    string `placeholder:"DATE" help:"When to look at the decision again."`
	Supersedes string `placeholder:"ID" help:"Record that it replaces, which is archived."`
	Outcome    string `placeholder:"TEXT" help:"The outcome of a completed task."`
	flags
}

// Run adds a record.
func (c *addCmd) Run(s *process.Process) error {
	return c.item(s, func(ctx context.Context, b *notebook.Book) (it memory.Item, err error) {
		from := memory.Source{}
		switch {
		case c.Decision:
			it, err = b.Decide(ctx, c.Text, c.Why, c.Revisit, from)
		case c.Task:
			it, err = b.Task(ctx, c.Text, from)
		case c.Done:
			it, err = b.Done(ctx, c.Text, notebook.Task{Outcome: c.Outcome}, from)
		default:
			it, err = b.AddRule(ctx, c.Text, c.Why, from)
		}
		if err == nil && c.Supersedes != "" {
			it, err = b.Supersede(ctx, c.Supersedes, it.ID)
		}
		return it, err
	})
}

type observeCmd struct {
	Text string `arg:"" name:"text-or-id" help:"The pattern. The text or the id of an observation or a rule confirms that."`
	flags
}

// Run notes a pattern, or confirms one by hand.
func (c *observeCmd) Run(s *process.Process) error {
	return c.item(s, func(ctx context.Context, b *notebook.Book) (memory.Item, error) {
		it, err := b.Confirm(ctx, c.Text, notebook.Confirmation{By: notebook.Hand})
		if errors.Is(err, notebook.ErrNotFound) {
			return b.Observe(ctx, c.Text, memory.Source{})
		}
		return it, err
	})
}

type setCmd struct {
	ID    string `arg:"" help:"Id, the beginning of one, a rule's number (#3), or a task's name."`
	State string `arg:"" optional:"" default:"" enum:",active,suspended,archived" help:"active, suspended (sessions are not told of it until it is confirmed again), or archived."`
	Text  string `placeholder:"TEXT" help:"The new text."`
	Why   string `placeholder:"TEXT" help:"The new reason, or why it is suspended or archived."`
	flags
}

// Run changes a record.
func (c *setCmd) Run(s *process.Process) error {
	if c.State == "" && c.Text == "" && c.Why == "" {
		return exit.Usage(errors.New("say what to change: active, suspended, archived, --text or --why"))
	}
	return c.item(s, func(ctx context.Context, b *notebook.Book) (it memory.Item, err error) {
		why := c.Why
		if c.State != "" {
			why = ""
		}
		if c.Text != "" || why != "" {
			it, err = b.Edit(ctx, c.ID, c.Text, why)
		}
		if err != nil {
			return it, err
		}
		switch c.State {
		case "active":
			return b.Restore(ctx, c.ID)
		case "suspended":
			return b.Contradict(ctx, c.ID, c.Why, memory.Source{})
		case "archived":
			return b.Archive(ctx, c.ID, c.Why)
		}
		return it, nil
	})
}

type listCmd struct {
	Words []string `arg:"" optional:"" help:"Words to search for, in all records. Best matches come first."`
	Kind  string   `default:"any" enum:"any,observation,rule,task,memory" help:"Only this kind: observation, rule, task or memory."`
	All   bool     `help:"Also list archived records, and observations that only one session says."`
	flags
}

// Run lists records.
func (c *listCmd) Run(s *process.Process) error {
	all := c.All || len(c.Words) > 0
	q := notebook.Query{Archived: all, Text: strings.Join(c.Words, " ")}
	if c.Kind != "any" {
		q.Kinds = []memory.Kind{memory.Kind(c.Kind)}
	}
	return c.book(s, func(ctx context.Context, b *notebook.Book) error {
		items, err := b.Items(ctx, q)
		if err != nil {
			return err
		}
		found := len(items)
		if !all {
			items = slices.DeleteFunc(items, notebook.HeardOnce)
		}
		if once := found - len(items); once > 0 {
			s.Note("left out: %s that only one session says (--all)", report.Count(once, "observation"))
		}
		if c.JSON {
			return command.WriteJSON(s.Out, items)
		}
		if found == 0 {
			s.Note("nothing yet: decant notebook observe TEXT")
		}
		for i := range items {
			it := &items[i]
			fmt.Fprintf(s.Out, "%s  %-11s  %-9s  %2d  %s\n", it.ID, it.Kind, it.State(), it.Times, report.Visible(it.Text))
		}
		return nil
	})
}

type showCmd struct {
	ID    string `arg:"" help:"Id, the beginning of one, a rule's number (#3), or a task's name."`
	Skill string `placeholder:"NAME" help:"Print an observed procedure as the SKILL.md of a skill with this name."`
	flags
}

// Run prints a record.
func (c *showCmd) Run(s *process.Process) error {
	return c.book(s, func(ctx context.Context, b *notebook.Book) error {
		r, err := b.Find(ctx, c.ID)
		if err != nil {
			return err
		}
		if c.Skill != "" {
			text, err := r.Skill(c.Skill)
			if err != nil {
				return exit.Usage(err)
			}
			return s.Say(text)
		}
		if c.JSON {
			it, err := r.Packed()
			return errors.Join(err, command.WriteJSON(s.Out, it))
		}
		writeRecord(s, r)
		return writeMessage(s, r)
	})
}

// writeRecord prints a record and where it comes from.
func writeRecord(s *process.Process, r *notebook.Record) {
	fmt.Fprintf(s.Out, "%s %s, %s: %s\n", r.ID, r.Kind, r.Item.State(), report.Visible(r.Text))
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(s.Out, "  %-10s %s\n", name, report.Visible(value))
		}
	}
	line("why", r.Why)
	line("since", r.Created.Local().Format(time.DateTime))
	line("session", r.Session)
	line("from", r.From)
	line("became", r.Became)
	line("reason", r.Reason)
	line("against", r.Against)
	for _, was := range r.Was {
		line("was", was)
	}
	for i, c := range r.Confirmations {
		k, who := i+len(r.Seen)-len(r.Confirmations), ""
		if k >= 0 {
			who = fmt.Sprintf(" (%s %s)", r.Seen[k].By, r.Seen[k].Session)
		}
		line("confirmed", c.Time.Local().Format(time.DateTime)+who+": "+c.Evidence)
	}
}

// writeMessage prints the message that a record comes from, if its session's file is still there.
func writeMessage(s *process.Process, r *notebook.Record) error {
	if r.Session == "" || r.Message == 0 {
		return nil
	}
	f, err := recordedSession(s, r.Session)
	if err != nil {
		return s.Say(fmt.Sprintf("\nThe file of session %s is gone.\n", r.Session))
	}
	doc, err := sessionfile.Read(s, f.Path, string(f.Format))
	if err != nil {
		return err
	}
	for i := range doc.Conversation.Messages {
		m := &doc.Conversation.Messages[i]
		if m.Number != r.Message {
			continue
		}
		fmt.Fprintf(s.Out, "\n%s, message %d, %s:\n", f.Path, m.Number, m.Role)
		for j := range m.Blocks {
			if m.Blocks[j].Content != nil && m.Blocks[j].Kind == decant.KindText {
				text := report.Visible(secret.Mask(m.Blocks[j].Text()))
				fmt.Fprintf(s.Out, "  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
			}
		}
	}
	return nil
}
