package chatserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/remember"
	"github.com/decantdev/decant/apps/chat/internal/whatif"
	"github.com/decantdev/decant/preset"
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

// whatifAPI answers requests about turns under other circumstances.
type whatifAPI struct{ rooms *rooms }

// postWhatIf answers a turn once more under other circumstances. What was tried of the session before and not kept is gone.
func (h *whatifAPI) postWhatIf(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := h.rooms.roomOf(r, tenant)
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
	o, change, err := h.circumstances(rm, &in)
	if err != nil {
		return invalid(err)
	}
	if err := h.rooms.records.dropTried(r.Context(), rm.key); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer context.AfterFunc(h.rooms.ctx, cancel)()
	defer cancel()
	c, session, err := whatif.Run(ctx, *o, rm.session, turn, *change, nil)
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
func (h *whatifAPI) circumstances(rm *room, in *tried) (*whatif.Options, *whatif.Change, error) {
	conf := rm.agent
	if conf == nil {
		conf = &h.rooms.opts.Default
	}
	o, err := h.rooms.agents.options(rm.key.Tenant, conf)
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
		Client: h.rooms.opts.Client, Agent: o, Source: h.rooms.opts.Store, Memory: []string{"save_memory", "recall", "forget"}, Told: true, Now: h.rooms.opts.Now,
		Labels: map[string]string{labelAgent: ""},
	}, change, nil
}

// postKeep makes a what-if of the session a session of its own. What the turns that it stands for have saved is taken back, but for what both share.
func (h *whatifAPI) postKeep(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := h.rooms.roomOf(r, tenant)
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
	first, shared, err := h.rooms.records.triedFor(r.Context(), k, rm.key.ID)
	if err != nil {
		return err
	}
	taken, err := h.rooms.records.forgetTurns(r.Context(), rm, first, shared)
	if err != nil {
		return err
	}
	if err := h.adopt(r.Context(), rm, k); err != nil {
		return errors.Join(err, remember.PutBack(r.Context(), h.rooms.records.memory(tenant), taken))
	}
	now, err := h.rooms.now(r.Context(), k)
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

// adopt makes a what-if a session of the service, of the agent of a room.
func (h *whatifAPI) adopt(ctx context.Context, rm *room, k store.Key) error {
	conf := rm.agent
	if conf == nil {
		conf = &h.rooms.opts.Default
	}
	a, err := h.rooms.agents.made(k.Tenant, conf)
	if err != nil {
		return err
	}
	session, err := a.Open(ctx, k.ID)
	if err != nil {
		return err
	}
	return session.SetLabels(map[string]string{labelAgent: conf.Name, whatif.Label: "", labelTurn: "", labelShared: ""})
}
