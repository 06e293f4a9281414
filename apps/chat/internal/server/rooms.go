package chatserver

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/hold"
	"github.com/decantdev/decant/store"
)

// rooms are the sessions in memory and their runs. They are safe for concurrent use.
type rooms struct {
	opts    *Options
	records *records
	agents  *agentBook
	folders *folders
	leases  *leases

	ctx  context.Context // of runs, which outlive the requests that begin them
	stop context.CancelFunc
	runs sync.WaitGroup

	tending  sync.WaitGroup // of the lease
	resuming sync.Mutex     // held while runs that were left are gone on with, beside the lease

	space *hold.Space // for requests and runs

	mu     sync.Mutex
	all    map[store.Key]*room
	closed bool
}

// newRooms returns no rooms yet.
func newRooms(agents *agentBook) *rooms {
	memory := cmp.Or(agents.opts.Memory, 1<<30)
	s := &rooms{
		opts: agents.opts, records: agents.records, agents: agents, folders: agents.folders, leases: agents.leases, all: map[store.Key]*room{},
		space: hold.New(memory, memory/8),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// room returns the room of a stored session, which stays while the claim of the context is used.
func (s *rooms) room(ctx context.Context, k store.Key) (*room, error) {
	c := claimOf(ctx)
	if rm := s.known(c, k); rm != nil {
		return rm, nil
	}
	rm, err := s.open(ctx, k)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	other := s.all[k]
	if other.sound() {
		return c.use(other), nil // somebody else was faster
	}
	if other != nil {
		s.drop(other)
	}
	s.all[k] = c.use(rm)
	s.sweep()
	return rm, nil
}

// known returns the room of a session that is in memory, to be used under a claim; nil if there is none that is sound.
func (s *rooms) known(c *claim, k store.Key) *room {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rm := s.all[k]; rm.sound() {
		return c.use(rm)
	}
	return nil
}

// open reads a session.
func (s *rooms) open(ctx context.Context, k store.Key) (*room, error) {
	sum, err := s.records.known(ctx, k)
	if err != nil {
		return nil, err
	}
	conf, err := s.agents.find(ctx, k.Tenant, sum.Labels[labelAgent])
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	use := conf
	if use == nil {
		use = &s.opts.Default
	}
	d := s.folders.deskFor(use)
	o, err := s.agents.options(k.Tenant, use)
	if err == nil {
		err = d.equip(&o)
	}
	if err != nil {
		return nil, err
	}
	a, err := agent.New(s.opts.Client, o)
	if err != nil {
		return nil, err
	}
	session, err := a.Open(ctx, k.ID)
	if err != nil {
		return nil, err
	}
	return newRoom(s, k, conf, session, d.of(session)), nil
}

// leave drops the rooms that match, except those with a run under way. Listeners reconnect, which opens the session again.
func (s *rooms) leave(which func(*room) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rm := range s.all {
		if which(rm) && rm.current() == nil {
			s.drop(rm)
		}
	}
}

// drop leaves a room. The server is locked.
func (s *rooms) drop(rm *room) {
	delete(s.all, rm.key)
	close(rm.gone)
	rm.desk.leave()
}

// roomOf returns the room that a request is about.
func (s *rooms) roomOf(r *http.Request, tenant string) (*room, error) {
	return s.room(r.Context(), store.Key{Tenant: tenant, ID: r.PathValue("id")})
}

// ownRoom returns the room that a request is about to change, unless another service runs its session.
func (s *rooms) ownRoom(r *http.Request, tenant string) (*room, error) {
	if err := s.elsewhere(r.Context(), store.Key{Tenant: tenant, ID: r.PathValue("id")}); err != nil {
		return nil, err
	}
	return s.roomOf(r, tenant)
}

// while returns a context that ends with another one, or with the service.
func (s *rooms) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// described returns a session as it is told of.
func (s *rooms) described(k store.Key, sum *agent.Summary) summary {
	s.mu.Lock()
	rm := s.all[k]
	s.mu.Unlock()
	running := rm != nil && rm.current() != nil
	return summary{
		ID: sum.ID, Agent: sum.Labels[labelAgent], Title: sum.Title, Created: sum.Created, Updated: sum.Updated, Turns: sum.Turns,
		Running: running, Waiting: sum.Waiting, Interrupted: sum.Running && !sum.Waiting && !running,
		Archived: sum.Labels[labelArchived] != "", Spent: spentOf(sum.Spent),
	}
}

// answerWith answers with a session as it is now.
func (s *rooms) answerWith(w http.ResponseWriter, r *http.Request, status int, k store.Key) error {
	now, err := s.now(r.Context(), k)
	if err != nil {
		return err
	}
	write(w, status, now)
	return nil
}

// now returns a session as it is now.
func (s *rooms) now(ctx context.Context, k store.Key) (*summary, error) {
	sum, err := s.records.known(ctx, k)
	if err != nil {
		return nil, err
	}
	out := s.described(k, sum)
	return &out, nil
}

// aside does something that outlives the request, unless the service is about to end.
func (s *rooms) aside(do func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosing
	}
	s.runs.Go(do)
	return nil
}

// resume goes on with the runs that were under way when the service ended, of all tenants.
func (s *rooms) resume(ctx context.Context) error {
	tenants, err := s.opts.Store.Tenants(ctx)
	others, fault := s.leases.others(ctx)
	err = errors.Join(err, fault, s.folders.collect(ctx))
	for _, tenant := range tenants {
		js, fault := s.records.journals(ctx, tenant, sessionKind, time.Time{})
		err = errors.Join(err, fault)
		for i := range js {
			err = errors.Join(err, s.resumeOne(ctx, &js[i], others))
		}
	}
	return err
}

// resumeOne goes on with the run of a session, if one was interrupted. Those of services that are alive were not, this one included, and of
// several that find it one goes on. Where only the end of the run is missing, there is nothing to go on with.
func (s *rooms) resumeOne(ctx context.Context, j *store.Journal, others map[string]bool) error {
	sum, err := summaryOf(j)
	if err != nil || others[sum.Owner] || sum.Owner == s.leases.own || !sum.Running || sum.Waiting || sum.Labels[labelAgent] == "" {
		return err
	}
	s.leave(func(rm *room) bool { return rm.key == j.Key }) // it does not know what the other service wrote since it was opened
	ctx, c := s.claim(ctx, j.Key.Tenant)
	defer s.end(c)
	if err := c.Wait(ctx, workShare*sum.Bytes); err != nil {
		return err
	}
	rm, err := s.room(ctx, j.Key)
	if err == nil && rm.session.Interrupted() {
		_, err = rm.begin(withPass(ctx, s.agents.limits.passFor(j.Key.Tenant)), rm.session.Continue)
	}
	if errors.Is(err, agent.ErrTaken) || errors.Is(err, errElsewhere) || errors.Is(err, agent.ErrEnded) {
		return nil
	}
	return err
}

// close waits for runs under way until ctx is done, and interrupts those that are left.
func (s *rooms) close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.runs.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	s.stop()
	<-done
	s.tending.Wait()
	if err := s.leases.end(context.Background()); err != nil {
		s.opts.Logger.Warn("the lease of this service cannot be given back; it ends in a moment", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rm := range s.all {
		rm.desk.leave()
	}
}
