package chatserver

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/remember"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/store"
)

// A room is a session in memory: its run, and what has happened since that began, for everybody who listens. Of what was said before the
// run it has a copy, so that whoever comes late gets both and nothing twice.
type room struct {
	rooms   *rooms
	key     store.Key
	agent   *Agent // nil: its configuration is gone, and the session can only be read
	session *agent.Session
	desk    *desk         // its files; nil: it has none
	epoch   string        // events of another one are not known here
	gone    chan struct{} // closed when the room is left: who listens comes back to another one

	users int // requests, those that listen among them; guarded by the server

	turns sync.Mutex // held while a run begins, and while the session is taken back

	mu      sync.Mutex
	base    []message
	log     []logged
	last    int64         // number of the newest event
	changed chan struct{} // closed with the next event
	run     *running      // nil: there is none
	used    time.Time
	bytes   atomic.Int64 // of what was said
	size    int          // tokens of the newest request
	window  int
}

// A running thing is a run.
type running struct {
	from   int64 // number of the event before its first one
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
	end    *outcome      // how it has ended, once done is closed
	limit  error         // the limit that has ended it; nil: none has
}

// A logged event is one that can be sent again.
type logged struct {
	number int64
	delta  bool // a piece of an answer that is told whole when it is there
	data   []byte
}

// An event is what listeners are told, as openapi.yaml describes it.
type event struct {
	Kind     string      `json:"kind"`
	Text     string      `json:"text,omitzero"`
	Call     *call       `json:"call,omitzero"`
	Pour     *agent.Pour `json:"pour,omitzero"`
	Outcome  *outcome    `json:"outcome,omitzero"`
	Messages []message   `json:"messages,omitempty"`

	Index       *int         `json:"index,omitzero"`
	Attachments []attachment `json:"attachments,omitempty"`

	Session *summary `json:"session,omitzero"`
	Size    int      `json:"size,omitzero"`
	Window  int      `json:"window,omitzero"`
}

// An outcome is how a run ended.
type outcome struct {
	Stop   agent.Stop `json:"stop"`
	Text   string     `json:"text"`
	Forced bool       `json:"forced,omitzero"`
	Error  string     `json:"error,omitzero"`
	Spent  spent      `json:"spent"`
}

// kindSnapshot is the event by which all that a listener shows is replaced.
const kindSnapshot = "snapshot"

// newRoom returns the room of a session.
func newRoom(s *rooms, k store.Key, a *Agent, session *agent.Session, d *desk) *room {
	rm := &room{
		rooms: s, key: k, agent: a, session: session, desk: d, epoch: rand.Text()[:10],
		gone: make(chan struct{}), changed: make(chan struct{}), used: s.opts.Now(),
	}
	rm.base = shown(session)
	rm.weigh()
	return rm
}

// sound reports whether there is a room in which something can be said: its session can be written down, and goes on nowhere else.
func (rm *room) sound() bool { return rm != nil && rm.session.Err() == nil }

// How many rooms there are before those are left that nobody has used for a while.
const (
	manyRooms = 200
	longAgo   = time.Minute
)

// idle reports whether no run is under way, and when somebody has used the room last.
func (rm *room) idle() (since time.Time, is bool) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	return rm.used, rm.run == nil
}

// begin begins a run under the pass and the claim of the context of, or says why there is none.
func (rm *room) begin(of context.Context, start func(context.Context) iter.Seq2[agent.Event, error]) (*running, error) {
	if err := rm.rooms.elsewhere(of, rm.key); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(withPass(rm.rooms.ctx, passOf(of)))
	begun, run, leave := make(chan error, 1), &running{cancel: cancel, done: make(chan struct{})}, claimOf(of).join()
	if err := rm.rooms.aside(func() {
		defer leave()
		defer cancel()
		rm.turns.Lock()
		before, first := shown(rm.session), true
		for e, err := range start(ctx) {
			if first {
				first = false
				failed := e.Kind == agent.EventDone && err != nil
				if !failed {
					rm.enter(before, run)
				}
				rm.turns.Unlock()
				if begun <- err; failed {
					return
				}
			}
			rm.told(run, &e, err)
		}
		rm.leave(run)
	}); err != nil {
		leave()
		cancel()
		return nil, err
	}
	return run, <-begun
}

// enter makes place for the events of a run, behind what was said before it.
func (rm *room) enter(before []message, run *running) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	rm.base, rm.log, rm.run = before, nil, run
	run.from = rm.last
}

// leave notes that a run has ended. The next one may have begun.
func (rm *room) leave(run *running) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	if rm.run == run {
		rm.run = nil
	}
	rm.used = rm.rooms.opts.Now()
	rm.weigh()
	close(run.done)
}

// told tells everybody of an event of a run.
func (rm *room) told(run *running, e *agent.Event, err error) {
	out := event{Kind: string(e.Kind), Text: e.Text, Pour: e.Pour, Size: e.Size, Window: e.Window}
	if e.Window > 0 {
		out.Window = rm.within(e.Window)
	}
	if e.Call != nil {
		out.Call = callOf(e.Call)
		out.Call.Waiting = e.Kind == agent.EventApproval
	}
	if e.Kind == agent.EventUser {
		out.Index, out.Attachments = &e.Index, rm.shownWith(e)
	}
	if e.Kind == agent.EventResult {
		out.Call.Result, out.Text = e.Text, ""
	}
	if o := e.Outcome; o != nil {
		out.Outcome = &outcome{Stop: o.Stop, Text: o.Text, Forced: o.Forced, Spent: spentOf(o.Spent)}
		if err != nil && o.Stop != agent.StopCancelled {
			out.Outcome.Error = rm.rooms.opts.told(err)
		}
		if over, ok := errors.AsType[*budget.Error](err); ok {
			run.limit = over
		}
		run.end = out.Outcome
	}
	rm.mu.Lock()
	if e.Window > 0 {
		rm.size, rm.window = e.Size, e.Window
	}
	rm.mu.Unlock()
	rm.publish(&out)
}

// publish tells everybody of an event.
func (rm *room) publish(e *event) {
	data, err := json.Marshal(e)
	if err != nil {
		rm.rooms.opts.Logger.Error("an event of the chat cannot be written", "error", err)
		return
	}
	rm.mu.Lock()
	defer rm.mu.Unlock()
	if e.Kind == string(agent.EventMessage) && len(rm.log) > manyEvents {
		rm.merge()
	}
	rm.last++
	rm.log = append(rm.log, logged{rm.last, e.Kind == string(agent.EventText) || e.Kind == string(agent.EventThinking), data})
	close(rm.changed)
	rm.changed = make(chan struct{})
}

// manyEvents is how many events of a run are kept as they came. Of a longer run the pieces of answers go, whose end has come.
const manyEvents = 2000

// merge leaves out the pieces of answers that have ended. Whoever was in the middle of one gets it whole next.
func (rm *room) merge() {
	kept := rm.log[:0:0]
	for _, e := range rm.log {
		if !e.delta {
			kept = append(kept, e)
		}
	}
	rm.log = kept
}

// rewind takes the session back to before a message, with what was saved since if memory is to go back, too, and tells everybody that it is
// another one than they show.
func (rm *room) rewind(ctx context.Context, first int, memory bool) (*summary, error) {
	rm.turns.Lock()
	defer rm.turns.Unlock()
	if err := rm.rooms.elsewhere(ctx, rm.key); err != nil {
		return nil, err
	}
	var taken remember.Taken
	var err error
	if memory {
		if taken, err = rm.rooms.records.forgetTurns(ctx, rm, first, nil); err != nil {
			return nil, err
		}
	}
	if err := rm.session.Rewind(first); err != nil {
		return nil, errors.Join(err, remember.PutBack(ctx, rm.rooms.records.memory(rm.key.Tenant), taken))
	}
	now, err := rm.rooms.now(ctx, rm.key)
	if err != nil {
		return nil, err
	}
	base := shown(rm.session)
	rm.mu.Lock()
	rm.base, rm.log = base, nil
	rm.mu.Unlock()
	rm.publish(&event{Kind: kindSnapshot, Messages: base, Session: now})
	return now, nil
}

// stop interrupts the run, and returns when it has ended.
func (rm *room) stop(ctx context.Context) error {
	run := rm.current()
	if run == nil {
		return nil
	}
	run.cancel()
	select {
	case <-run.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// current returns the run under way, nil when there is none.
func (rm *room) current() *running {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	return rm.run
}

// id returns the id of an event.
func (rm *room) id(number int64) string { return rm.epoch + "-" + strconv.FormatInt(number, 10) }

// number returns the number of the event with an id; false: it is of another epoch, or no id.
func (rm *room) number(id string) (int64, bool) {
	epoch, digits, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && epoch == rm.epoch
}

// after returns the events behind a number, and what is closed when there are more. missed says that some of them are no longer known.
func (rm *room) after(number int64) (events []logged, more <-chan struct{}, missed bool) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	rm.used = rm.rooms.opts.Now()
	first := rm.last - int64(len(rm.log)) + 1
	if len(rm.log) > 0 {
		first = rm.log[0].number
	}
	if number < first-1 || number > rm.last {
		return nil, rm.changed, true
	}
	i := len(rm.log)
	for i > 0 && rm.log[i-1].number > number {
		i--
	}
	return rm.log[i:len(rm.log):len(rm.log)], rm.changed, false
}

// beginning returns what a listener that knows nothing is told first, and the number that stands for it.
func (rm *room) beginning() ([]message, int64) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	if len(rm.log) == 0 {
		return rm.base, rm.last
	}
	return rm.base, rm.log[0].number - 1
}
