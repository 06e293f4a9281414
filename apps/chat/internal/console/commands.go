package console

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/project"
)

// A command is something that can be done besides talking.
type command struct {
	name, hint, about string
	do                func(t *talk, ctx context.Context, arguments string)
}

// commands returns the commands.
func commands() []command {
	return []command{
		{"help", "", "this list", (*talk).help},
		{"compact", "[TEXT]", "pour now; the record is about TEXT", (*talk).compact},
		{"compact undo", "", "take back the newest pour", nil}, // by compact
		{"context", "", "what fills the window", (*talk).context},
		{"why", "[N]", "what the last answer rests on in what the model was sent; N: sentence N with its sources in full", (*talk).why},
		{"cost", "", "what the session has used", (*talk).cost},
		{"memory", "[WORDS]", "what is remembered beyond conversations", (*talk).memory},
		{"model", "[ID]", "go on with another model", (*talk).model},
		{"rewind", "[N] [files|both]", "take back the newest N things that you said (1), what files were changed since, or both", (*talk).rewind},
		{"undo", "", "take back what you said last, with its changes to files and memories", (*talk).undo},
		{"whatif", "[--preset P] [--model M] [--memory off] [TURN]", "answer a turn once more under something else, and compare", (*talk).whatIf},
		{"keep", "", "go on with that answer; /undo takes it back", (*talk).keep},
		{"continue", "", "go on with what was interrupted, or has failed", (*talk).goOn},
		{"clear", "", "begin a new conversation", (*talk).clear},
		{"quit", "", "end", (*talk).quit},
	}
}

// command does what a line that begins with a slash asks for. It returns false where the line is to be said: it is a command of the project.
func (t *talk) command(ctx context.Context, text string) bool {
	name, arguments, _ := strings.Cut(text[1:], " ")
	for _, c := range commands() {
		if c.name == name {
			c.do(t, ctx, strings.TrimSpace(arguments))
			return true
		}
	}
	if t.ofProject(name) {
		return false
	}
	t.screen.line("there is no command /%s; /help lists them", clip(name, 40))
	return true
}

// ofProject reports whether the project has a command.
func (t *talk) ofProject(name string) bool {
	return slices.ContainsFunc(t.o.Project.Commands, func(c project.Command) bool { return c.Name == name })
}

func (t *talk) help(context.Context, string) {
	for _, c := range commands() {
		t.screen.line("  /%-24s %s", strings.TrimSpace(c.name+" "+c.hint), c.about)
	}
	for _, c := range t.o.Project.Commands {
		t.screen.line("  /%-24s %s", strings.TrimSpace(c.Name+" "+c.Hint), clip(c.About, 60))
	}
	t.screen.line("  %-25s %s", "@FILE", "tells the model what is in a file")
	t.screen.line("  %-25s %s", "!COMMAND", "runs a command; the model is told what it prints")
	t.screen.line("A line that ends with \\ goes on on the next one. What you type while the model works is read with its next results.")
}

// compact pours, or takes back a pour.
func (t *talk) compact(ctx context.Context, focus string) {
	t.begin(ctx, func(ctx context.Context, _ func(agent.Event, error)) func() {
		var change *engine.Change
		var err error
		if focus == "undo" {
			change, err = t.chat.Undo(ctx)
		} else {
			change, err = t.chat.Compact(ctx, focus)
		}
		return func() { t.changed(change, err, focus == "undo") }
	})
}

// changed says what a pour on demand, or its undo, has done.
func (t *talk) changed(c *engine.Change, err error, undo bool) {
	switch {
	case errors.Is(err, decant.ErrNothing) && undo:
		t.screen.line("there is no pour to take back")
	case errors.Is(err, decant.ErrNothing):
		t.screen.line("there is nothing worth leaving out")
	case err != nil:
		t.screen.line("failed: %v", err)
	default:
		p := c.Plan
		t.screen.line("from %s to %s tokens, from the next thing that you say on", humanize.Thousands(p.Before.Fixed+p.Before.Messages), humanize.Thousands(p.After.Fixed+p.After.Messages))
		if c.Hold {
			t.screen.line("nothing more is poured unless the window leaves no choice")
		}
	}
}

func (t *talk) context(ctx context.Context, _ string) {
	f, err := t.chat.Fill(ctx)
	if err == nil {
		err = f.Write(t.screen)
	}
	t.failed(err)
}

func (t *talk) cost(context.Context, string) {
	m := t.chat.Meter()
	u := m.Spent.Usage
	t.screen.line("$%.4f for %d answers: %s tokens read (%s of them from the cache), %s written to the cache, %s answered; %d pours",
		m.Spent.Money.USD(), m.Spent.Turns, humanize.Thousands(u.Prompt()), humanize.Thousands(u.CacheRead), humanize.Thousands(u.CacheWrite), humanize.Thousands(u.Output), m.Pours)
}

func (t *talk) memory(ctx context.Context, words string) {
	t.failed(t.chat.Remembered(ctx, t.screen, words))
}

func (t *talk) model(ctx context.Context, id string) {
	if id == "" {
		t.status()
		return
	}
	if err := t.chat.SetModel(ctx, id); err != nil {
		t.failed(err)
		return
	}
	t.screen.line("%s answers from now on", id)
}

// rewind takes back what was said last, what files were changed since then, or both.
func (t *talk) rewind(_ context.Context, arguments string) {
	n, what := 1, chat.Back{Talk: true}
	for _, word := range strings.Fields(arguments) {
		switch k, err := strconv.Atoi(word); {
		case err == nil:
			n = k
		case word == "files":
			what = chat.Back{Files: true}
		case word == "both":
			what = chat.Back{Talk: true, Files: true}
		default:
			t.screen.line("want /rewind, /rewind 2, /rewind 2 files or /rewind 2 both")
			return
		}
	}
	text, files, err := t.chat.Rewind(n, what)
	if err != nil {
		t.failed(err)
		return
	}
	if what.Files {
		t.screen.line("files that are as they were: %s", cmp.Or(strings.Join(files, ", "), "none was changed"))
	}
	if what.Talk {
		t.screen.line("back to before: %s", clip(text, mostLine))
	}
}

// goOn goes on with a run that has not come to its end.
func (t *talk) goOn(ctx context.Context, _ string) {
	t.begin(ctx, func(inner context.Context, tell func(agent.Event, error)) func() {
		for e, err := range t.chat.Continue(inner) {
			tell(e, err)
		}
		return t.rest
	})
}

func (t *talk) clear(context.Context, string) {
	t.chat.Clear()
	t.told = nil
	t.screen.line("a new conversation; the old one is kept (decant sessions)")
}

func (t *talk) quit(context.Context, string) { t.ended = true }

// failed says what failed, if anything did.
func (t *talk) failed(err error) {
	if err != nil {
		t.screen.line("failed: %v", err)
	}
}

// complete completes the name of a command.
func (t *talk) complete(line string, pos int) (string, int, bool) {
	if pos != len(line) || !strings.HasPrefix(line, "/") || strings.Contains(line, " ") {
		return "", 0, false
	}
	var found []string
	add := func(name string) {
		if name = "/" + name; strings.HasPrefix(name, line) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	for _, c := range commands() {
		if c.do != nil {
			add(c.name)
		}
	}
	for _, c := range t.o.Project.Commands {
		add(c.Name)
	}
	if len(found) == 0 {
		return "", 0, false
	}
	next := common(found)
	if len(found) == 1 {
		next += " "
	}
	return next, len(next), true
}

// common returns what all names begin with.
func common(names []string) string {
	out := names[0]
	for _, n := range names[1:] {
		for !strings.HasPrefix(n, out) {
			out = out[:len(out)-1]
		}
	}
	return out
}
