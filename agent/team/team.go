package team

import (
	"cmp"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/provider"
)

// Options configures a Team. Agent and Members are required.
type Options struct {
	// Agent is the coordinator. Its tools are those that members can have; "delegate" and "delegation" come with the team. With
	// Agent.Journals delegates are kept as sessions of their own, and a delegation that was under way when its process ended goes on
	// where it was when Session.Continue goes on with the coordinator.
	Agent   agent.Options
	Members []Member

	Depth  int // delegates of delegates, and so on: 1, or 0, means that delegates do not delegate
	Digest int // characters of an answer that the coordinator is given at once; 0: 2,000

	// Heard is told what happens in delegations; several goroutines may call it at once. Nil means that nobody is.
	Heard func(d Delegation, e agent.Event)
}

const (
	defaultDigest = 2000
	leastDigest   = 100
)

// A Team is a coordinator and its members. It is safe for concurrent use.
type Team struct {
	opts        Options
	coordinator *agent.Agent
	members     []*fellow
	notes       []string

	mu      sync.Mutex
	answers map[string]string // of delegates that no journal keeps, by their ids
	order   []string          // the ids, oldest first
}

// A fellow is a member with its agent.
type fellow struct {
	Member
	agent *agent.Agent
}

// New returns a team whose agents ask their models through client, where a member has none of its own. An error names the member
// and the field that is wrong.
func New(client provider.Speaker, o Options) (*Team, error) {
	switch {
	case len(o.Members) == 0:
		return nil, errors.New("team: Options.Members is missing")
	case o.Depth < 0:
		return nil, fmt.Errorf("team: Options.Depth must not be negative: %d", o.Depth)
	case o.Digest != 0 && o.Digest < leastDigest:
		return nil, fmt.Errorf("team: Options.Digest must be at least %d: %d", leastDigest, o.Digest)
	}
	o.Depth, o.Digest = cmp.Or(o.Depth, 1), cmp.Or(o.Digest, defaultDigest)
	t := &Team{opts: o, answers: map[string]string{}}
	own := o.Agent
	own.Tools = append(append([]agent.Tool{}, own.Tools...), t.delegateTool(), t.delegationTool())
	own.Remind = reminder(own.Remind)
	var err error
	if t.coordinator, err = agent.New(client, own); err != nil {
		return nil, err
	}
	for _, m := range o.Members {
		if err := t.add(client, m, own); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// add adds a member.
func (t *Team) add(client provider.Speaker, m Member, own agent.Options) error {
	if field, err := m.check(); err != nil {
		return m.wrong(field, err)
	}
	if t.member(m.Name) != nil {
		return m.wrong("name", errors.New("another member has it, too"))
	}
	o, err := m.options(own)
	if err != nil {
		return err
	}
	if m.loose {
		if _, missing := chosen(own.Tools, m.Tools); len(missing) > 0 {
			t.notes = append(t.notes, fmt.Sprintf("%s: member %s works without %s, which the coordinator does not have", m.place, m.Name, strings.Join(missing, ", ")))
		}
	}
	if m.Client != nil {
		client = m.Client
	}
	a, err := agent.New(client, o)
	if err != nil {
		return m.wrong("options", err)
	}
	t.members = append(t.members, &fellow{m, a})
	return nil
}

// member returns the member with a name, nil when there is none.
func (t *Team) member(name string) *fellow {
	for _, m := range t.members {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// Agent returns the coordinator.
func (t *Team) Agent() *agent.Agent { return t.coordinator }

// Notes says in sentences what of the members' files could not be had.
func (t *Team) Notes() []string { return t.notes }

// unasked is why a delegate may not do what somebody would have to be asked about: nobody watches it.
func unasked(*agent.Call) string {
	return "somebody would have to be asked, and a delegate cannot ask. Say in your answer what should be done."
}

// reminder returns what a model is told after a pour: what it would be told otherwise, and the ledger.
func reminder(other func([]stdjson.RawMessage) string) func([]stdjson.RawMessage) string {
	return func(messages []stdjson.RawMessage) string {
		text := listed(Ledger(messages))
		if other == nil {
			return text
		}
		return strings.TrimSpace(other(messages) + "\n\n" + text)
	}
}
