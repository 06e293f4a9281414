package chatserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/remember"
	"github.com/decantdev/decant/internal/whatif"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// Labels of a session that answers a turn of another one once more. It names no agent until somebody keeps it, so that it is none of the service's.
const (
	labelTurn   = "what-if.message" // with which the turn begins
	labelShared = "what-if.shared"  // ids of the turn's calls that both answers have
)

// A compared thing is a turn, as it was answered and as it would be, as openapi.yaml describes it.
type compared struct {
	Message int    `json:"message"`
	Text    string `json:"text"`
	Was     arm    `json:"was"`
	Would   arm    `json:"would"`
}

// An arm is one way in which a turn is answered.
type arm struct {
	Session  string      `json:"session"`
	Model    string      `json:"model"`
	Preset   string      `json:"preset"`
	Memory   bool        `json:"memory"`
	Answer   string      `json:"answer"`
	Stop     agent.Stop  `json:"stop,omitzero"`
	Waits    []*call     `json:"waits,omitempty"`
	Spent    spent       `json:"spent"`
	Cached   int         `json:"cached"`
	Seconds  float64     `json:"seconds"`
	Sent     whatif.Sent `json:"sent"`
	Recorded []string    `json:"recorded,omitempty"`
	Made     []string    `json:"made,omitempty"`
}

// armOf returns an arm as it is shown.
func armOf(a *whatif.Arm) arm {
	out := arm{
		Session: a.Session, Model: a.Model, Preset: a.Preset, Memory: a.Memory, Answer: a.Answer, Stop: a.Stop, Spent: spentOf(a.Spent), Cached: a.Spent.Usage.CacheRead,
		Seconds: a.Took.Seconds(), Sent: a.Sent, Recorded: a.Recorded, Made: a.Made,
	}
	for i := range a.Would {
		c := callOf(&a.Would[i])
		c.Waiting = true
		out.Waits = append(out.Waits, c)
	}
	return out
}

// A tried thing is what a client asks for.
type tried struct {
	Message *int   `json:"message"`
	Model   string `json:"model"`
	Preset  string `json:"preset"`
	Memory  string `json:"memory"`
}

// postWhatIf answers a turn once more under other circumstances. What was tried of the session before and not kept is gone.
func (s *Server) postWhatIf(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := s.roomOf(r, tenant)
	if err != nil {
		return err
	}
	var in tried
	if err := read(r, &in); err != nil {
		return err
	}
	turns := rm.session.Turns()
	turn := len(turns)
	if in.Message != nil {
		turn = 1 + slices.IndexFunc(turns, func(t agent.Turn) bool { return t.First == *in.Message })
	}
	if turn == 0 {
		return invalid(errors.New("message: no turn of the session begins with it"))
	}
	o, change, err := s.circumstances(rm, &in)
	if err != nil {
		return invalid(err)
	}
	if err := s.dropTried(r.Context(), rm.key); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer context.AfterFunc(s.ctx, cancel)()
	defer cancel()
	c, session, err := whatif.Run(ctx, *o, rm.session, turn, *change, nil)
	if _, failed := errors.AsType[*provider.Failure](err); failed {
		return &apiError{http.StatusBadGateway, "model", err.Error()}
	}
	if err != nil {
		return err
	}
	err = session.SetLabels(map[string]string{labelTurn: strconv.Itoa(c.First), labelShared: strings.Join(c.Would.Shared, " ")})
	if err == nil {
		write(w, http.StatusOK, &compared{Message: c.First, Text: c.Text, Was: armOf(&c.Was), Would: armOf(&c.Would)})
	}
	return err
}

// circumstances returns how the turns of a room are answered, and what is to be other.
func (s *Server) circumstances(rm *room, in *tried) (*whatif.Options, *whatif.Change, error) {
	conf := rm.agent
	if conf == nil {
		conf = &s.opts.Default
	}
	o, err := s.options(rm.key.Tenant, conf)
	if err == nil {
		err = rm.desk.equip(&o) // what reads is called, and what changes files is not
	}
	if err != nil {
		return nil, nil, err
	}
	if in.Memory != "" && in.Memory != "on" && in.Memory != "off" {
		return nil, nil, fmt.Errorf("memory: it is on or off: %q", in.Memory)
	}
	change := &whatif.Change{Model: in.Model, NoMemory: in.Memory == "off"}
	if in.Preset != "" {
		var p *preset.Preset
		if p, err = (&Agent{Name: conf.Name, Preset: in.Preset}).policy(); err != nil {
			return nil, nil, err
		}
		change.Preset = p
	}
	return &whatif.Options{
		Client: s.opts.Client, Agent: o, Source: s.opts.Store, Memory: []string{"save_memory", "recall", "forget"}, Told: true, Now: s.opts.Now,
		Labels: map[string]string{labelAgent: ""},
	}, change, nil
}

// postKeep makes a what-if of the session a session of its own. What the turns that it stands for have saved is taken back, but for what both share.
func (s *Server) postKeep(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := s.roomOf(r, tenant)
	if err != nil {
		return err
	}
	var in struct {
		Session string `json:"session"`
	}
	if err := read(r, &in); err != nil {
		return err
	}
	k := store.Key{Tenant: tenant, ID: in.Session}
	first, shared, err := s.triedFor(r.Context(), k, rm.key.ID)
	if err != nil {
		return err
	}
	taken, err := s.forgetTurns(r.Context(), rm, first, shared)
	if err != nil {
		return err
	}
	if err := s.adopt(r.Context(), rm, k); err != nil {
		return errors.Join(err, remember.PutBack(r.Context(), s.memory(tenant), taken))
	}
	now, err := s.now(r.Context(), k)
	if err != nil {
		return err
	}
	texts := []string{}
	for i := range taken.Items {
		texts = append(texts, taken.Items[i].Text)
	}
	write(w, http.StatusOK, map[string]any{"session": now, "memories": texts})
	return nil
}

// triedFor returns which message of a session a what-if stands for, and the calls that both share. One of another session is store.ErrNotFound.
func (s *Server) triedFor(ctx context.Context, k store.Key, id string) (first int, shared []string, err error) {
	j, err := s.opts.Store.Journal(ctx, k)
	if err != nil {
		return 0, nil, err
	}
	sum := &agent.Summary{}
	if j.Kind == sessionKind {
		sum, err = summaryOf(j)
	}
	if err == nil && sum.Labels[whatif.Label] != id {
		err = fmt.Errorf("what-if %s: %w", k.ID, store.ErrNotFound)
	}
	if err == nil {
		first, err = strconv.Atoi(sum.Labels[labelTurn])
	}
	if err != nil {
		return 0, nil, err
	}
	return first, strings.Fields(sum.Labels[labelShared]), nil
}

// adopt makes a what-if a session of the service, of the agent of a room.
func (s *Server) adopt(ctx context.Context, rm *room, k store.Key) error {
	conf := rm.agent
	if conf == nil {
		conf = &s.opts.Default
	}
	a, err := s.made(k.Tenant, conf)
	if err != nil {
		return err
	}
	session, err := a.Open(ctx, k.ID)
	if err != nil {
		return err
	}
	return session.SetLabels(map[string]string{labelAgent: conf.Name, whatif.Label: "", labelTurn: "", labelShared: ""})
}

// memory returns what the tools of memory of a tenant work on.
func (s *Server) memory(tenant string) remember.Options {
	return remember.Options{Store: s.opts.Store, Tenant: tenant, Project: project, Now: s.opts.Now}
}

// forgetTurns takes back what the turns of a room have saved from a message on, but for some calls.
func (s *Server) forgetTurns(ctx context.Context, rm *room, first int, but []string) (remember.Taken, error) {
	if err := s.opts.Engine.Flush(ctx); err != nil {
		return remember.Taken{}, err
	}
	found, err := s.opts.Store.Conversations(ctx, store.Filter{Tenant: rm.key.Tenant, Session: rm.session.Root()})
	if err != nil {
		return remember.Taken{}, err
	}
	var ids []string
	for i := range found {
		ids = append(ids, found[i].ID)
	}
	return remember.TakeBack(ctx, s.memory(rm.key.Tenant), ids, rm.session.Messages(), first, but...)
}

// dropTried removes the what-ifs of a session that nobody has kept, and what is stored of them alone.
func (s *Server) dropTried(ctx context.Context, k store.Key) error {
	js, err := s.journals(ctx, k.Tenant, sessionKind, time.Time{})
	if err != nil {
		return err
	}
	for i := range js {
		sum, err := summaryOf(&js[i])
		if err != nil {
			return err
		}
		if sum.Labels[whatif.Label] != k.ID {
			continue
		}
		if err := s.opts.Store.DropJournal(ctx, js[i].Key); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := s.forget(ctx, k.Tenant, sum.Root); err != nil { // unless it is also that of the session
			return err
		}
	}
	return nil
}
