package agent

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// Options configures an Agent. Model and Engine are required.
type Options struct {
	Model  string // id, as its provider names it
	System string // instructions
	Tools  []Tool

	// Engine pours, and keeps the conversations: embedded.DB.Engine has one on a file. The client of the agent must not lead through
	// Decant a second time.
	Engine  *engine.Engine
	Tenant  string
	Project string
	Preset  *preset.Preset // nil: the engine's

	// Journals keep the sessions, so that another process can go on with them: embedded.DB.Store has them, in the same file. Nil:
	// they live in their process alone.
	Journals store.Journals

	// Owner is who runs the sessions of this agent, where several processes share the journals. It stands in the Summary of a
	// session while a run is under way, and after its process has died in it. Empty: nobody says.
	Owner string

	MaxTokens int        // of an answer; 0: 8,192, or what the model can
	Turns     int        // answers of the model in one run, the final one included; 0: 50
	Budget    Budget     // of one run
	Allowance *Allowance // that runs share with others; nil: they share none

	// Budgets returns the budgets that a request falls under besides the engine's, from the context of its run. Nil means that
	// there are none.
	Budgets func(ctx context.Context) []budget.Budget

	// Backoff says how long to wait where the provider has too many calls; zero: as the client does.
	Backoff provider.Backoff

	WrapUp     string // what the model is told at a limit; empty: a standard text
	MostResult int    // characters of a result that the model is given; 0: 40,000
	LongCache  bool   // prompts are kept by the provider for an hour, not for five minutes
	LongFixed  bool   // only tools and instructions are: what many sessions begin with, while the messages of each follow each other closely
	Unmarked   bool   // requests do not ask the provider to keep anything

	// Thinking is how many tokens a model may think before each answer, on top of MaxTokens; nil, or 0 tokens: requests say nothing about
	// it. Where the model takes a budget it gets one, of 1,024 tokens at least. One that knows effort only is asked for a high
	// effort from 8,000 tokens on, a medium one from 3,000 on, else for a low one. Any other model is told nothing.
	//
	// A schedule whose values differ has a price: whenever the budget or the effort changes, the provider forgets the messages that it
	// has in its cache, and writes again what it could have read, at 1.25 times the price of input in place of a tenth of it. With
	// claude-sonnet-4-6, Fading(8000) costs more than it can save once the prompt has about 13,000 tokens. Steady keeps the cache.
	Thinking Schedule

	// Remind returns what the model must be told after a pour, from what was said so far, none of it poured; empty: nothing. It
	// stands behind the newest words or results of the request that was poured. Nil means that there is nothing.
	Remind func(messages []stdjson.RawMessage) string

	// Permit says what is to be done about a call before it is made. Nil means: ask where the tool wants it. A zero verdict asks.
	Permit func(ctx context.Context, t *Tool, c *Call) Verdict

	Hooks   Hooks
	Catalog *token.Catalog // nil: the built-in one
	Now     func() time.Time
}

// Hooks are called in the course of a run; nil ones are not. An error ends the run. Those about tools may be called by several
// goroutines at once.
type Hooks struct {
	// BeforeRun is called when a run begins, or goes on with what was allowed. The context that it returns is that of the run.
	BeforeRun func(ctx context.Context, s *Session) context.Context

	// AfterRun is told how a run has ended. err is the error beside EventDone.
	AfterRun func(ctx context.Context, o Outcome, err error)

	BeforeModel func(ctx context.Context, body []byte) error // the request as it is sent
	AfterModel  func(ctx context.Context, a *provider.Answer) error
	BeforeTool  func(ctx context.Context, c *Call) error
	AfterTool   func(ctx context.Context, c *Call, r *Result) error
}

// defaultWrapUp is what a model is told when it must give its final answer.
const defaultWrapUp = "The limit of this task is reached. Do not call any tool. Give your final answer now, from what you know, " +
	"and say what is missing or uncertain."

const (
	defaultMaxTokens  = 8192
	defaultTurns      = 50
	defaultMostResult = 40_000
	defaultTimeout    = 2 * time.Minute
	leastResult       = 200 // characters that a result may have at least
)

// settled returns the options with their defaults, or says which of them is wrong.
func (o Options) settled() (Options, error) {
	if o.Engine == nil {
		return o, errors.New("agent: Options.Engine is missing; embedded.Open makes one")
	}
	if o.Model == "" {
		return o, errors.New("agent: Options.Model is missing")
	}
	if o.Catalog == nil {
		var err error
		if o.Catalog, err = token.Builtin(); err != nil {
			return o, err
		}
	}
	model, _ := o.Catalog.Lookup(o.Model)
	if o.MaxTokens == 0 {
		o.MaxTokens = min(defaultMaxTokens, cmp.Or(model.MaxOutput, defaultMaxTokens))
	}
	o.Turns = cmp.Or(o.Turns, defaultTurns)
	o.MostResult = cmp.Or(o.MostResult, defaultMostResult)
	o.WrapUp = cmp.Or(o.WrapUp, defaultWrapUp)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, o.check()
}

// check says which option is wrong.
func (o *Options) check() error {
	for name, n := range map[string]int{"MaxTokens": o.MaxTokens, "Turns": o.Turns, "Budget.Tokens": o.Budget.Tokens} {
		if n < 0 {
			return fmt.Errorf("agent: Options.%s must not be negative: %d", name, n)
		}
	}
	if o.MostResult < leastResult {
		return fmt.Errorf("agent: Options.MostResult must be at least %d: %d", leastResult, o.MostResult)
	}
	seen := map[string]bool{}
	for i := range o.Tools {
		if err := o.Tools[i].check(); err != nil {
			return err
		}
		if seen[o.Tools[i].Name] {
			return fmt.Errorf("agent: two tools have the name %s", o.Tools[i].Name)
		}
		seen[o.Tools[i].Name] = true
	}
	return nil
}

// isObject reports whether src is a JSON object.
func isObject(src jsontext.Value) bool {
	return src.IsValid() && src.Kind() == jsontext.KindBeginObject
}

// check says what is wrong with a tool.
func (t *Tool) check() error {
	switch {
	case !toolName(t.Name):
		return fmt.Errorf("agent: the name of a tool has 1 to 64 letters, digits, _ and -: %q", t.Name)
	case t.Run == nil:
		return fmt.Errorf("agent: tool %s has no Run", t.Name)
	case t.Schema != nil && !isObject(jsontext.Value(t.Schema)):
		return fmt.Errorf("agent: the schema of tool %s is not a JSON object", t.Name)
	case t.Most != 0 && t.Most < leastResult:
		return fmt.Errorf("agent: Most of tool %s must be at least %d: %d", t.Name, leastResult, t.Most)
	}
	return nil
}

// toolName reports whether the API takes a name for a tool.
func toolName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 64
}
