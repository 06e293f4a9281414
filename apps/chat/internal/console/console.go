// Package console is a conversation with an agent at a terminal: what is typed, what happens, and questions about calls that somebody must
// allow.
//
// It is made of lines. Nothing is drawn over, but for the line that is being typed, so that it can be read by a screen reader, kept by a
// terminal's memory, and piped. The editor of lines is golang.org/x/term, which writes above what is being typed.
package console

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/project"
)

// Options configures a conversation at a terminal. Notices of the chat go to Notices.
type Options struct {
	Open    func(notices io.Writer) (*chat.Chat, error) // called once
	Project *project.Project

	In      io.Reader
	Out     io.Writer
	Plain   bool                       // Out shows no more than lines, and In passes on whole lines
	Columns func() (width, height int) // of the terminal; nil: 80 and 24
	History string                     // file of what was typed; empty: none
	Signals <-chan struct{}            // interrupts that do not come over In; nil: none
}

// A talk is one conversation at a terminal. One goroutine has it; others read lines and run the agent.
type talk struct {
	o      Options
	chat   *chat.Chat
	term   terminal
	screen *screen
	size   [2]int

	lines      chan string
	interrupts chan struct{}
	news       chan news
	notices    notices

	cancel context.CancelFunc // of what is under way, nil: nothing
	queued []string           // said to the run under way and not read by the model yet
	asking *agent.Call        // that waits for a verdict
	asked  map[string]bool    // ids of the calls that were asked about: what they change was shown
	told   []string           // what commands of the user have printed, for the next thing that is said
	later  []string           // lines that wait until what is under way has ended
	ended  bool
}

// news is what comes from what is under way: an event, or the end.
type news struct {
	event agent.Event
	err   error
	done  func() // at the end, by the goroutine of the talk
}

// Run talks until the user ends it. The caller has put the terminal into a mode that passes on each key, unless it is plain.
func Run(ctx context.Context, o Options) (err error) {
	t := &talk{o: o, lines: make(chan string), interrupts: make(chan struct{}, 1), news: make(chan news), notices: notices{came: make(chan struct{}, 1)}, asked: map[string]bool{}}
	if t.o.Columns == nil {
		t.o.Columns = func() (int, int) { return 80, 24 }
	}
	t.screen = &screen{columns: func() int { w, _ := t.o.Columns(); return w }}
	if o.Plain {
		t.term = &plain{Writer: o.Out, lines: bufio.NewReader(o.In)}
	} else {
		t.term = newRich(o.In, o.Out, t.interrupts, newHistory(o.History), t.complete)
		io.WriteString(o.Out, "\x1b[?2004h") // what is pasted comes between marks
		defer io.WriteString(o.Out, "\x1b[?2004l")
	}
	t.screen.w = t.term
	if t.chat, err = o.Open(&t.notices); err != nil {
		return err
	}
	t.notice()
	t.greet()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go t.typing(ctx)
	return t.loop(ctx)
}

// typing reads what is typed until there is nothing more.
func (t *talk) typing(ctx context.Context) {
	defer close(t.lines)
	for {
		text, err := t.term.read()
		if err != nil {
			return
		}
		select {
		case t.lines <- text:
		case <-ctx.Done():
			return
		}
	}
}

// loop takes what comes, one thing after the other.
func (t *talk) loop(ctx context.Context) error {
	lines := t.lines
	for !t.ended {
		t.resize()
		select {
		case <-ctx.Done():
			t.ended = true
		case text, ok := <-lines:
			if !ok { // what is under way may end; nothing new begins
				lines = nil
				t.ended = t.cancel == nil
				continue
			}
			t.typed(ctx, text)
		case <-t.interrupts:
			t.interrupt(ctx)
		case <-t.o.Signals:
			t.interrupt(ctx)
		case <-t.notices.came:
			t.notice()
		case n := <-t.news:
			t.notice() // what was said before it comes before it
			t.hear(ctx, n)
			t.ended = t.ended || lines == nil && t.cancel == nil
		}
	}
	return t.finish(ctx)
}

// finish interrupts what is under way and waits for its end.
func (t *talk) finish(ctx context.Context) error {
	for t.cancel != nil {
		t.cancel()
		if n := <-t.news; n.done != nil {
			t.cancel = nil
		}
	}
	t.notice()
	t.screen.end()
	return context.Cause(ctx)
}

// resize tells the line editor how wide the terminal is now.
func (t *talk) resize() {
	w, h := t.o.Columns()
	r, ok := t.term.(*rich)
	if !ok || t.size == [2]int{w, h} || w <= 0 || h <= 0 {
		return
	}
	t.size = [2]int{w, h}
	r.SetSize(w, h) // it redraws; that it cannot shows soon enough
}

// typed does what a line asks for.
func (t *talk) typed(ctx context.Context, text string) {
	text = strings.TrimSpace(text)
	switch {
	case t.asking != nil:
		t.answer(ctx, text)
	case text == "":
	case t.cancel != nil:
		t.meanwhile(ctx, text)
	case strings.HasPrefix(text, "!"):
		t.shell(ctx, strings.TrimSpace(text[1:]))
	case strings.HasPrefix(text, "/") && t.command(ctx, text):
	default:
		t.say(ctx, text)
	}
}

// meanwhile takes what is typed while something is under way: a run is told what is said; what it cannot be told waits for its end.
func (t *talk) meanwhile(ctx context.Context, text string) {
	name, _, _ := strings.Cut(text, " ")
	switch {
	case name == "/quit" || name == "/help":
		t.command(ctx, text)
		return
	case strings.HasPrefix(text, "!") || strings.HasPrefix(text, "/") && !t.ofProject(name[1:]):
		t.screen.line("(waits until what is under way has ended: %s)", clip(text, 60))
		t.later = append(t.later, text)
		return
	}
	said, images, err := chat.Typed(t.o.Project, text)
	switch {
	case err != nil:
		t.screen.line("%v", err)
	case len(images) == 0 && t.chat.Session().Steer(said):
		t.queued = append(t.queued, said)
		t.screen.line("(noted: it is read with the next results)")
	default:
		t.screen.line("(waits until what is under way has ended: %s)", clip(text, 60))
		t.later = append(t.later, text)
	}
}

// say says something to the agent, with what the user's own commands have printed.
func (t *talk) say(ctx context.Context, text string) {
	said, images, err := chat.Typed(t.o.Project, text)
	if err != nil {
		t.screen.line("%v", err)
		return
	}
	text = strings.Join(append(t.told, said), "\n\n")
	t.told = nil
	t.begin(ctx, func(ctx context.Context, tell func(agent.Event, error)) func() {
		for e, err := range t.chat.Run(ctx, text, images...) {
			tell(e, err)
		}
		return t.rest
	})
}

// begin has something done while the user can type. What it tells is shown; the function that it returns is called at its end, by the
// goroutine of the talk.
func (t *talk) begin(ctx context.Context, do func(ctx context.Context, tell func(agent.Event, error)) func()) {
	ctx, t.cancel = context.WithCancel(ctx)
	t.term.prompt(busy)
	go func() {
		done := do(ctx, func(e agent.Event, err error) { t.news <- news{event: e, err: err} })
		t.news <- news{done: done}
	}()
}

// rest is what happens when a run has ended.
func (t *talk) rest() {
	if ws := t.chat.Session().Waiting(); len(ws) > 0 {
		t.ask(&ws[0])
		return
	}
	for _, text := range t.queued { // it came too late for the run
		t.screen.line("(not read yet, it goes with what you say next: %s)", clip(text, 60))
	}
	t.queued = nil
	t.status()
}

// hear takes what comes from what is under way.
func (t *talk) hear(ctx context.Context, n news) {
	if n.done == nil {
		t.show(&n.event, n.err)
		return
	}
	t.cancel()
	t.cancel = nil
	t.term.prompt(idle)
	n.done()
	for len(t.later) > 0 && t.cancel == nil && t.asking == nil && !t.ended {
		text := t.later[0]
		t.later = t.later[1:]
		t.typed(ctx, text)
	}
}

// interrupt ends what is under way; what came stays.
func (t *talk) interrupt(ctx context.Context) {
	switch {
	case t.asking != nil:
		t.answer(ctx, "n")
	case t.cancel != nil:
		t.screen.line("(interrupted)")
		t.cancel()
	default:
		t.screen.line("(nothing is under way; /quit or Ctrl-D ends)")
	}
}
