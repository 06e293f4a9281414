package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/figure"
	"github.com/decantdev/decant/internal/recall"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// PlanOptions say for which model a plan is, and how far it goes.
type PlanOptions struct {
	Model     token.Model      // whose window and prices count
	Estimator *token.Estimator // counts tokens; nil: the model's own
	Preset    *preset.Preset   // the policy

	// Target is the most tokens that the messages may have afterwards. Zero means the target of
	// the model's window, see LimitsFor.
	Target int

	// Limit is what the window leaves for the messages. A tail that is larger than the target is cut only
	// above this limit, because cutting fresh results for a target alone helps nobody. Zero means that the
	// target must be met in any case.
	Limit int

	// Trigger is what the messages may grow to before the next pour, zero if there are no automatic pours. A
	// target that must be raised stays below it if possible.
	Trigger int

	// Keep is the verbatim tail in tokens, whole rounds. Zero means what the preset says.
	Keep int

	// KeepTurns makes the tail at least this many turns long. Negative means what the preset says; zero
	// means no tail at all, but a summary of everything.
	KeepTurns int

	// Record says that the result is a session file. Its client resumes from a summary and what follows
	// it, so nothing stays in front of the summary, which quotes the user anyway.
	Record bool

	// Unbind says to leave out thinking that is bound to what the plan changes, as in a file from which a
	// client resumes. An Engine does this by itself.
	Unbind bool

	// Quick skips everything that reads the texts of the messages, for when there is no time: nothing is reduced, a
	// summary is the beginning and the end of what it covers, and nothing is proved. It is the last rung.
	Quick bool

	// Key seals the records that the plan makes, so that they are recognised in a file
	// by Recognise. Empty: they are not sealed, and count as ordinary text when they come back.
	Key []byte

	// Now is when the prices hold. The zero value means the newest prices known.
	Now time.Time

	// Made are earlier edits of single blocks that stay in force. The plan is made on top of them and
	// does not repeat them. An earlier checkpoint must not be among them: a new one is made from the
	// transcript and covers everything that the earlier one did.
	Made []decant.Decision

	// Pinned are blocks that stay verbatim, in addition to those of the tools that the preset pins. If a
	// checkpoint covers one, it is copied into the checkpoint's text.
	Pinned map[decant.Ref]decant.Hash
}

// Plan proposes the decisions that bring c under the target. A conversation that is under it
// already gets an empty plan, unless the preset makes some reductions always.
//
// It returns a *decant.IrreducibleError if no legal view is small enough, an error that wraps
// decant.ErrFixed if system prompt and tools alone are too large, and ctx's error if that ends first.
func Plan(ctx context.Context, c *decant.Conversation, o PlanOptions) (*decant.Plan, error) {
	p, err := newPlanner(ctx, c, o)
	if err != nil {
		return nil, err
	}
	for _, step := range [...]func() error{p.reduce, p.cover, p.putBack, p.unbind} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	plan, err := p.plan()
	if err == nil {
		err = ctx.Err() // what was proved of it is not whole
	}
	if err != nil {
		return nil, err
	}
	return plan, nil
}

// planner holds one plan in the making.
type planner struct {
	PlanOptions
	ctx    context.Context
	conv   *decant.Conversation
	est    *token.Estimator
	facts  []decant.Fact // must-keep facts of the conversation as it was
	before decant.Size

	due  bool // the view was larger than the target to begin with
	head int  // messages [0, head) stay: the task
	tail int  // messages [tail, end) stay: the newest rounds

	wanted int   // the tail's start as it was asked for
	cuts   []int // safe cut points

	decisions []decant.Decision
	edits     map[decant.Ref]int   // which of decisions edits a block
	view      *decant.Conversation // under the decisions when it was made, see current
	stale     bool                 // decisions were made since
	sizes     []int                // tokens of each message of conv as the view has it
	sums      []int                // sums[i]: tokens of the first i messages of conv as they were
	quotes    []int                // quotes[i]: tokens of what a checkpoint would quote of the first i messages of conv

	loading      map[int]bool               // numbers of messages that no checkpoint covers, see loading
	quotable     map[decant.Ref]decant.Hash // pins but for instructions
	instructions map[decant.Ref]instruction // what the agent was told to follow
}

func newPlanner(ctx context.Context, c *decant.Conversation, o PlanOptions) (*planner, error) {
	p := &planner{PlanOptions: o, ctx: ctx, edits: map[decant.Ref]int{}, conv: c, est: o.Estimator, view: c}
	if p.est == nil {
		p.est = token.For(o.Model)
	}
	p.before.Fixed = p.est.Fixed(&c.Fixed)
	p.sums = make([]int, 1, len(c.Messages)+1)
	made, err := p.madeSizes()
	if err != nil {
		return nil, err
	}
	for i := range c.Messages {
		n := p.est.Message(&c.Messages[i])
		p.sizes = append(p.sizes, n-made[i])
		p.sums = append(p.sums, p.sums[i]+n)
	}
	p.before.Messages = p.sums[len(c.Messages)]
	if p.Target == 0 {
		l, err := LimitsFor(o.Model, o.Preset, p.before.Fixed, c.MaxOutput)
		if err != nil {
			return nil, err
		}
		p.Target = l.Target
	}
	p.pin()
	p.cuts = decant.Cuts(c.Messages)
	p.head = p.headEnd()
	p.tail = max(p.head, p.tailStart())
	p.wanted = p.tail
	p.due = p.size() > p.Target
	return p, nil
}

// over reports whether the view is still larger than the target or, where it was larger, has more
// messages than the preset allows after a pour.
func (p *planner) over() bool {
	limit := p.Preset.Trigger.Messages
	return p.size() > p.Target || p.due && limit > 0 && p.count() > limit
}

// count returns the number of messages in the view.
func (p *planner) count() int {
	n := len(p.conv.Messages)
	for i := range p.decisions {
		if cp := p.decisions[i].Checkpoint; cp != nil {
			n -= cp.Messages - 1
		}
	}
	return n
}

func (p *planner) size() (n int) {
	for _, s := range p.sizes {
		n += s
	}
	return n
}

// headEnd returns the end of what stays at the beginning: everything up to the user's first words,
// when the preset keeps them and they are not a third of the target by themselves.
func (p *planner) headEnd() int {
	ms := p.conv.Messages
	if p.KeepTurns == 0 || p.Record || !p.Preset.Keep.First || len(ms) == 0 || ms[0].Compaction {
		return 0
	}
	n := 0
	for i := range ms {
		if ms[i].Role == decant.RoleAssistant {
			return 0
		}
		n += p.sizes[i]
		if ms[i].UserWords() {
			if n > p.Target/3 {
				return 0
			}
			return i + 1
		}
	}
	return 0
}

// tailStart returns the safe cut from which everything stays verbatim.
func (p *planner) tailStart() int {
	n := len(p.conv.Messages)
	if p.KeepTurns == 0 {
		return n
	}
	start := min(p.lastRound(), p.byTokens())
	if k := p.Preset.Keep.Messages; k > 0 {
		start = min(start, p.cutBefore(n-k))
	}
	if k := max(p.KeepTurns, p.Preset.Keep.Turns); k > 0 {
		turns := decant.Turns(p.conv.Messages)
		start = min(start, turns[max(0, len(turns)-k)].Start)
	}
	return start
}

// lastRound returns the start of what must stay whatever else happens: the open round, or the
// newest words of the user that nobody has answered yet.
func (p *planner) lastRound() int { return p.cutBefore(len(p.conv.Messages) - 1) }

// byTokens returns the start of the longest tail of whole rounds within the tokens to keep.
func (p *planner) byTokens() int {
	keep := p.Keep
	if keep == 0 {
		share := p.Preset.Keep.Share
		if share == 0 && p.Preset.Keep.Messages == 0 && p.Preset.Keep.Turns == 0 {
			share = 0.2
		}
		keep = int(share * float64(p.Target))
	}
	start, sum := len(p.sizes), 0
	for i := len(p.sizes) - 1; i >= 0; i-- {
		sum += p.sizes[i]
		if sum > keep {
			break
		}
		if _, safe := slices.BinarySearch(p.cuts, i); safe {
			start = i
		}
	}
	return start
}

// cutBefore returns the last safe cut at or before i.
func (p *planner) cutBefore(i int) int {
	k, exact := slices.BinarySearch(p.cuts, max(0, i))
	if !exact && k > 0 {
		k--
	}
	return p.cuts[k]
}

// decide adds decisions. Of two edits of one block the one that leaves less stands, each from the
// original; pinned blocks are left alone.
func (p *planner) decide(ds ...decant.Decision) {
	for _, d := range p.unpinned(ds) {
		i, again := p.edits[d.Target.Ref]
		switch {
		case d.Target.Message == 0:
			p.decisions = append(p.decisions, d)
		case !again:
			p.edits[d.Target.Ref] = len(p.decisions)
			p.decisions = append(p.decisions, d)
			p.sizes[p.index(d.Target.Message)] -= d.Before - d.After
		case d.After < p.decisions[i].After:
			old := p.decisions[i]
			p.decisions[i] = d
			p.sizes[p.index(d.Target.Message)] += old.Before - old.After - (d.Before - d.After)
		default:
			continue
		}
		p.stale = true
	}
}

// keep drops all decisions but those that ok reports true for. The sizes are the caller's to put right.
func (p *planner) keep(ok func(*decant.Decision) bool) {
	p.decisions = slices.DeleteFunc(p.decisions, func(d decant.Decision) bool { return !ok(&d) })
	clear(p.edits)
	for i := range p.decisions {
		if ref := p.decisions[i].Target.Ref; ref.Message > 0 {
			p.edits[ref] = i
		}
	}
	p.stale = true
}

// current returns the view under the decisions so far.
func (p *planner) current() (*decant.Conversation, error) {
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	if !p.stale {
		return p.view, nil
	}
	for i := range p.decisions {
		p.decisions[i].ID = fmt.Sprintf("d%d", i+1)
	}
	v, err := decant.View(p.conv, p.withMade(p.decisions))
	if err != nil {
		return nil, fmt.Errorf("apply the planned decisions: %w", err)
	}
	p.view, p.stale = v, false
	return v, nil
}

// index returns the index in the conversation of the message with the given number.
func (p *planner) index(number int) int {
	i, _ := slices.BinarySearchFunc(p.conv.Messages, number, func(m decant.Message, n int) int { return cmp.Compare(m.Number, n) })
	return i
}

// plan puts the result together: sizes, facts at risk, price.
func (p *planner) plan() (*decant.Plan, error) {
	view, err := p.current()
	if err != nil {
		return nil, err
	}
	out := &decant.Plan{
		Base: p.conv.Hash(), Model: p.Model.ID, Window: p.Model.Window, Target: p.Target,
		Decisions: p.decisions, Before: p.before, Reason: p.reason(), Score: 1,
		After: decant.Size{Fixed: p.before.Fixed, Messages: p.est.Messages(view.Messages)},
	}
	if len(p.decisions) > 0 {
		text := wire.Text(view)
		out.Score, out.Risk = p.recalled(p.conv.Messages, text).Score, fact.Check(p.ctx, p.mustKeep(), text).Missing
		out.Price = p.price(out)
	}
	out.Notes = p.notes()
	if out.After.Messages > p.Target {
		return nil, &decant.IrreducibleError{Target: p.Target, Size: out.After.Messages, What: p.largest(0)}
	}
	return out, nil
}

// notes says what was asked to stay and could not.
func (p *planner) notes() (out []string) {
	if p.tail <= p.wanted {
		return nil
	}
	if p.KeepTurns > 0 {
		turns := decant.Turns(p.conv.Messages)
		n := 0
		for i := len(turns) - 1; i >= 0 && turns[i].Start >= p.tail; i-- {
			n++
		}
		out = append(out, fmt.Sprintf("%d of the %d newest turns that were to stay are verbatim: the target has no room for more", n, p.KeepTurns))
	}
	if p.Keep > 0 {
		n := p.sums[len(p.sums)-1] - p.sums[p.tail]
		out = append(out, fmt.Sprintf("%s of the %s tokens that were to stay are verbatim: the target has no room for more", figure.Thousands(n), figure.Thousands(p.Keep)))
	}
	return out
}

func (p *planner) reason() string {
	switch {
	case p.before.Messages > p.Target:
		return fmt.Sprintf("the messages have about %s tokens, the target is %s", figure.Thousands(p.before.Messages), figure.Thousands(p.Target))
	case len(p.decisions) > 0:
		return "the preset makes these reductions always"
	}
	return fmt.Sprintf("the messages have about %s tokens, which is within the target of %s", figure.Thousands(p.before.Messages), figure.Thousands(p.Target))
}

// mustKeep returns the facts of the conversation, extracted once.
func (p *planner) mustKeep() []decant.Fact {
	if p.facts == nil && !p.Quick {
		p.facts = fact.Extract(p.ctx, p.conv.Messages)
	}
	return p.facts
}

// recalled measures what text holds of ms. Of a quick plan nothing is known.
func (p *planner) recalled(ms []decant.Message, text string) recall.Result {
	if p.Quick {
		return recall.Result{}
	}
	return recall.Of(p.ctx, ms, text)
}

var errTooSmall = errors.New("no room for a summary")
