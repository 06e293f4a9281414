package investigate

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// DefaultBudget is how many tokens one error may use.
const DefaultBudget = 30_000

// Options configures an Investigator. Client, Model, Engine, Journals and Code are required.
type Options struct {
	Client   provider.Speaker
	Model    string
	Engine   *engine.Engine
	Journals store.Journals // in which investigations are kept, so that another process can go on with them
	Tenant   string
	Preset   *preset.Preset // nil: the engine's
	Code     *code.Reader
	Tools    []agent.Tool // beside those that read code. What they show is no evidence
	Traces   []Tracer     // that are asked what requests did; none: there is no tool for it

	// Mask takes out of what Traces tell what the model must not see. It must keep its lines. Nil: nothing is taken out.
	Mask func(text string) string

	Backoff   provider.Backoff // where the provider has too many calls; zero: as the client does
	Budget    int              // tokens for each error, of prompts and answers; 0: DefaultBudget
	Allowance *agent.Allowance // of a whole run; nil: without a limit
	LongCache bool             // prompts are kept by the provider for an hour
	LongFixed bool             // instructions and tools are: what all investigations begin with
	Thinking  bool             // the model thinks before its answers, less and less, by the class of the error
	Off       LayerSet         // context layers that are switched off

	Catalog *token.Catalog // nil: the built-in one
	Now     func() time.Time
}

// ErrGivenUp means that a request has failed in batches for good.
var ErrGivenUp = errors.New("there is no answer from any batch")

// An Investigator investigates errors. It is safe for concurrent use.
type Investigator struct{ o Options }

// New returns an investigator.
func New(o Options) *Investigator {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Investigator{o}
}

// A Finding is what came of an investigation.
type Finding struct {
	Number   int      `json:"number"` // of the case
	Checked           // zero where Error says why there is none
	Error    string   `json:"error,omitzero"`
	Session  string   `json:"session"`            // by which the investigation is opened again
	Examined []string `json:"examined,omitempty"` // files that were looked at

	Iterations int          `json:"iterations"` // answers of the model
	Limit      int          `json:"limit"`      // of them
	Calls      int          `json:"calls"`      // of tools
	Usage      decant.Usage `json:"usage"`
	USD        float64      `json:"usd"`
	Forced     bool         `json:"forced,omitzero"` // a limit was reached, and the model had to answer
	Seconds    float64      `json:"seconds"`
	Work       Work         `json:"layers,omitzero"` // what the context layers have done
}

// Tokens returns what an investigation has used, of prompts and answers, from the cache or not.
func (f *Finding) Tokens() int { return (&agent.Spent{Usage: f.Usage}).Tokens() }

// Summary returns what later investigations of the run are told.
func (f *Finding) Summary(c *Case) Summary {
	return Summary{Number: c.Number, Name: c.Name(), Cause: f.Cause, Files: f.Examined}
}

// A Scope is what an investigation may look at.
type Scope struct {
	Versions []code.Version `json:"versions,omitempty"` // of the repositories, the likeliest first
	Window   code.Window    `json:"window,omitzero"`    // in which something may have been changed
	Traces   []TraceRef     `json:"traces,omitempty"`   // of requests in which the error happened
}

// Investigate looks for the cause of an error, in a session of an id. Where there is such a session it goes on with it: what was done in another process
// is not done again. earlier is what other investigations of the run have found. heard is told what
// happens; nil: nobody is.
//
// A limit that is reached is no error: the finding has the answer that the model was made to give. Nor is an answer that is none: Finding.Error
// says so. An error is a reason to try again later.
func (v *Investigator) Investigate(ctx context.Context, id string, c *Case, in Scope, earlier []Summary, heard func(agent.Event)) (*Finding, error) {
	began := v.o.Now()
	seen := &code.Seen{}
	e := effortOf(c.Class)
	reads := (&code.Tools{Reader: v.o.Code, Seen: seen, Versions: in.Versions, Window: in.Window}).Tools()
	a, err := v.agent(e, v.tools(reads, in, seen))
	if err != nil {
		return nil, err
	}
	s, err := v.session(ctx, a, id)
	if err != nil {
		return nil, err
	}
	if !v.o.Off.On(LayerCrossError) {
		earlier = nil
	}
	work, effects := Work{Earlier: min(len(earlier), mostEarlier), Prior: c.prior()}, tally{earlier: len(told(earlier)), prior: c.priorSize()}
	told := func(e agent.Event) {
		effects.heard(&e, &work, seen)
		if heard != nil {
			heard(e)
		}
	}
	var answer Analysis
	var o agent.Outcome
	if len(s.Turns()) == 0 {
		answer, o, err = agent.RunAs[Analysis](ctx, s, c.Text(earlier), told)
	} else if err = again(ctx, reads, s); err == nil {
		answer, o, err = agent.ContinueAs[Analysis](ctx, s, told)
	}
	f := &Finding{Number: c.Number, Session: id, Limit: v.iterations(e), Forced: o.Forced, Seconds: v.o.Now().Sub(began).Seconds(), Examined: examined(seen)}
	f.count(s)
	work.Cut, work.Left = seen.Cut()
	work.Thinking = allowed(v.thinking(e), f.Iterations, f.Limit)
	work.Effects = effects.out
	f.Work = work
	switch {
	case err == nil:
		f.Checked = Check(answer, seen, in.Versions)
	case errors.Is(err, agent.ErrUntyped), errors.Is(err, agent.ErrBudget), errors.Is(err, ErrGivenUp):
		f.State, f.Confidence, f.Error = Inconclusive, Low, err.Error()
	default:
		return f, fmt.Errorf("error #%d: %w", c.Number, err)
	}
	return f, nil
}

// tools returns all tools of an investigation: those that read code, and others. They are the same for all investigations, so that the provider's cache
// has them.
func (v *Investigator) tools(reads []agent.Tool, in Scope, seen *code.Seen) []agent.Tool {
	if len(v.o.Traces) > 0 {
		reads = append(slices.Clip(reads), v.traces(in.Traces, seen))
	}
	return slices.Concat(reads, v.o.Tools)
}

// agent returns the agent for errors that take an effort.
func (v *Investigator) agent(e effort, tools []agent.Tool) (*agent.Agent, error) {
	o := agent.Options{
		Model: v.o.Model, System: system, Tools: tools, Engine: v.o.Engine, Journals: v.o.Journals, Tenant: v.o.Tenant,
		MaxTokens: mostAnswer, MostResult: mostResult, WrapUp: wrapUp, Catalog: v.o.Catalog, Now: v.o.Now, Backoff: v.o.Backoff,
		Permit: agent.Unattended(nil, func(*agent.Call) string { return "nobody can be asked here" }),
	}
	if !v.o.Off.On(LayerCaps) {
		o.MostResult = code.MostWhole
	}
	v.limits(&o, e)
	return agent.New(v.o.Client, o)
}

// What an answer and a result may have at most. What a call to the model may use at most is held back from the budget before it is made, so
// larger answers would leave fewer of them.
const (
	mostAnswer = 2000                // tokens
	mostResult = code.MostFile + 200 // characters
)

// wrapUp is what the model is told at a limit.
const wrapUp = "IMPORTANT: You've used the budget for this error. Provide your analysis NOW based on what you've found so far, as the one JSON object that was asked for. Do not call any tool."

// session opens the session of an id, or begins it.
func (v *Investigator) session(ctx context.Context, a *agent.Agent, id string) (*agent.Session, error) {
	s, err := a.Open(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return a.Session(id), nil
	}
	return s, err
}

// Ask says something in a fork of the session of an investigation, whose id is a new one.
func (v *Investigator) Ask(ctx context.Context, id, text string, in Scope, heard func(agent.Event)) error {
	seen := &code.Seen{}
	reads := &code.Tools{Reader: v.o.Code, Seen: seen, Versions: in.Versions, Window: in.Window}
	a, err := v.agent(effortOf(""), v.tools(reads.Tools(), in, seen))
	if err != nil {
		return err
	}
	s, err := a.Open(ctx, id)
	if err != nil {
		return err
	}
	if s, err = s.Fork(""); err != nil {
		return err
	}
	var fault error
	for e, err := range s.Run(ctx, text+"\n\nAnswer in words, not as JSON.") {
		heard(e)
		fault = errors.Join(fault, err)
	}
	return fault
}

// again makes those calls of a session once more that read code, so that it is known again what they have shown. They only read, and what they read cannot change: it is
// named by its commit.
func again(ctx context.Context, tools []agent.Tool, s *agent.Session) error {
	for _, m := range s.Messages() {
		var message struct {
			Blocks []struct {
				Type  string         `json:"type"`
				ID    string         `json:"id"`
				Name  string         `json:"name"`
				Input jsontext.Value `json:"input"`
			} `json:"content"`
		}
		if err := json.Unmarshal(m, &message); err != nil {
			return fmt.Errorf("read the session: %w", err)
		}
		for _, b := range message.Blocks {
			i := slices.IndexFunc(tools, func(t agent.Tool) bool { return t.Name == b.Name })
			if b.Type != "tool_use" || i < 0 {
				continue
			}
			call := &agent.Call{ID: b.ID, Tool: b.Name, Arguments: stdjson.RawMessage(b.Input), Progress: func(string) {}}
			if _, err := tools[i].Run(ctx, call); ctx.Err() != nil {
				return err // that a call fails is nothing new
			}
		}
	}
	return nil
}

// examined returns the files that were looked at, in the order in which they were.
func examined(seen *code.Seen) (out []string) {
	for _, s := range seen.Shown() {
		if !slices.Contains(out, s.Path) {
			out = append(out, s.Path)
		}
	}
	return out
}

// count notes what a session has used.
func (f *Finding) count(s *agent.Session) {
	spent := s.Spent()
	f.Iterations, f.Usage, f.USD = spent.Turns, spent.Usage, spent.Money.USD()
	for _, m := range s.Messages() {
		var message struct {
			Blocks []struct {
				Type string `json:"type"`
			} `json:"content"`
		}
		if json.Unmarshal(m, &message) != nil {
			continue
		}
		for _, b := range message.Blocks {
			if b.Type == "tool_use" {
				f.Calls++
			}
		}
	}
}
