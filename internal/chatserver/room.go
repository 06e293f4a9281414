package chatserver

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/store"
)

// A room is a session in memory: its run, and what has happened since that began, for everybody who listens. Of what was said before the
// run it has a copy, so that whoever comes late gets both and nothing twice.
type room struct {
	server  *Server
	key     store.Key
	agent   *Agent // nil: its configuration is gone, and the session can only be read
	session *agent.Session
	epoch   string // events of another one are not known here

	mu      sync.Mutex
	base    []message
	log     []logged
	last    int64         // number of the newest event
	changed chan struct{} // closed with the next event
	run     *running      // nil: there is none
	heard   int           // that listen
	used    time.Time
	size    int // tokens of the newest request
	window  int
}

// A running thing is a run.
type running struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
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
	Session  *summary    `json:"session,omitzero"`
	Size     int         `json:"size,omitzero"`
	Window   int         `json:"window,omitzero"`
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
func newRoom(s *Server, k store.Key, a *Agent, session *agent.Session) *room {
	rm := &room{server: s, key: k, agent: a, session: session, epoch: rand.Text()[:10], changed: make(chan struct{}), used: s.opts.Now()}
	rm.base = shown(session)
	return rm
}

// room returns the room of a stored session.
func (s *Server) room(ctx context.Context, k store.Key) (*room, error) {
	s.mu.Lock()
	rm := s.rooms[k]
	s.mu.Unlock()
	if rm != nil && !rm.taken() {
		return rm, nil
	}
	rm, err := s.open(ctx, k)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.rooms[k]; other != nil && !other.taken() {
		return other, nil // somebody else was faster
	}
	s.sweep()
	s.rooms[k] = rm
	return rm, nil
}

// open reads a session.
func (s *Server) open(ctx context.Context, k store.Key) (*room, error) {
	j, err := s.opts.Store.Journal(ctx, k)
	if err == nil && j.Kind != sessionKind {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	sum, err := summaryOf(j)
	if err == nil && sum.Labels[labelAgent] == "" {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	conf, err := s.agent(ctx, k.Tenant, sum.Labels[labelAgent])
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	use := conf
	if use == nil {
		use = &s.opts.Default
	}
	a, err := s.made(k.Tenant, use)
	if err != nil {
		return nil, err
	}
	session, err := a.Open(ctx, k.ID)
	if err != nil {
		return nil, err
	}
	return newRoom(s, k, conf, session), nil
}

// made returns the agent of a configuration.
func (s *Server) made(tenant string, a *Agent) (*agent.Agent, error) {
	o, err := s.options(tenant, a)
	if err != nil {
		return nil, err
	}
	return agent.New(s.opts.Client, o)
}

// How many rooms there are before those are left that nobody has used for a while.
const (
	manyRooms = 200
	longAgo   = time.Minute
)

// sweep leaves rooms that nobody uses. The server is locked.
func (s *Server) sweep() {
	if len(s.rooms) < manyRooms {
		return
	}
	for k, rm := range s.rooms {
		if rm.idle(s.opts.Now().Add(-longAgo)) {
			delete(s.rooms, k)
		}
	}
}

// leave forgets the rooms for which which is true and that nobody uses: they are opened anew.
func (s *Server) leave(which func(*room) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, rm := range s.rooms {
		if which(rm) && rm.idle(s.opts.Now()) {
			delete(s.rooms, k)
		}
	}
}

// idle reports whether nobody has used a room since a time.
func (rm *room) idle(since time.Time) bool {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	return rm.run == nil && rm.heard == 0 && !rm.used.After(since)
}

// taken reports whether the session goes on elsewhere.
func (rm *room) taken() bool { return errors.Is(rm.session.Err(), agent.ErrTaken) }

// begin begins a run. It returns the number of the event before its first one, or why there is no run.
func (rm *room) begin(start func(context.Context) iter.Seq2[agent.Event, error]) (int64, error) {
	s := rm.server
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return 0, &apiError{503, "closing", "the service is about to end; try again in a moment"}
	}
	s.runs.Add(1)
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(s.ctx)
	begun, run := make(chan error, 1), &running{cancel, make(chan struct{})}
	var from int64
	go func() {
		defer s.runs.Done()
		defer cancel()
		first := true
		before := shown(rm.session)
		for e, err := range start(ctx) {
			if first {
				if first = false; e.Kind == agent.EventDone && err != nil {
					begun <- err
					return
				}
				from = rm.enter(before, run)
				begun <- nil
			}
			rm.told(&e, err)
		}
		rm.leave(run)
	}()
	err := <-begun
	return from, err
}

// enter makes place for the events of a run, behind what was said before it.
func (rm *room) enter(before []message, run *running) int64 {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	rm.base, rm.log, rm.run = before, nil, run
	return rm.last
}

// leave notes that a run has ended. The next one may have begun.
func (rm *room) leave(run *running) {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	if rm.run == run {
		rm.run = nil
	}
	rm.used = rm.server.opts.Now()
	close(run.done)
}

// told tells everybody of an event of the run.
func (rm *room) told(e *agent.Event, err error) {
	out := event{Kind: string(e.Kind), Text: e.Text, Pour: e.Pour, Size: e.Size, Window: e.Window}
	if e.Call != nil {
		out.Call = callOf(e.Call)
		out.Call.Waiting = e.Kind == agent.EventApproval
	}
	if e.Kind == agent.EventResult {
		out.Call.Result, out.Text = e.Text, ""
	}
	if o := e.Outcome; o != nil {
		out.Outcome = &outcome{Stop: o.Stop, Text: o.Text, Forced: o.Forced, Spent: spentOf(o.Spent)}
		if err != nil && o.Stop != agent.StopCancelled {
			out.Outcome.Error = err.Error()
		}
	}
	if e.Kind == agent.EventPour {
		rm.publish(&event{Kind: "status", Text: organizing})
	}
	rm.mu.Lock()
	if e.Window > 0 {
		rm.size, rm.window = e.Size, e.Window
	}
	rm.mu.Unlock()
	rm.publish(&out)
}

// organizing is what the user is told while the conversation is poured.
const organizing = "Organizing conversation..."

// publish tells everybody of an event.
func (rm *room) publish(e *event) {
	data, err := json.Marshal(e)
	if err != nil {
		rm.server.opts.Logger.Error("an event of the chat cannot be written", "error", err)
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

// replaced tells everybody that the session is another one than they show.
func (rm *room) replaced(now *summary) {
	base := shown(rm.session)
	rm.mu.Lock()
	rm.base, rm.log = base, nil
	rm.mu.Unlock()
	rm.publish(&event{Kind: kindSnapshot, Messages: base, Session: now})
}

// stop interrupts the run, and returns when it has ended.
func (rm *room) stop(ctx context.Context) error {
	rm.mu.Lock()
	run := rm.run
	rm.mu.Unlock()
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

// running reports whether a run is under way.
func (rm *room) running() bool {
	rm.mu.Lock()
	defer rm.mu.Unlock()
	return rm.run != nil
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
	rm.used = rm.server.opts.Now()
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
