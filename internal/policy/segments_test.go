package policy_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/internal/recall"
	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
)

// A longRun is a conversation that grows and is poured again and again, as an engine does it: the next segment is
// prepared, then the pour comes, then its record has what is still missing written.
type longRun struct {
	t      *testing.T
	talk   talk
	opts   policy.PlanOptions
	write  summariser
	frozen map[int]decant.Segment // as they were when they were written, by their first message
	rounds int
	more   func() bool // adds a round, false: there is none
	size   int         // tokens of the view
	cp     *decant.Checkpoint
}

func newLongRun(t *testing.T, write summariser) *longRun {
	r := &longRun{t: t, opts: options(t, "default"), write: write, frozen: map[int]decant.Segment{}}
	r.opts.Target, r.opts.Trigger, r.opts.Limit = 5000, 12_000, 14_000
	r.opts.Estimator = token.For(r.opts.Model)
	r.more = func() bool { r.round(); return true }
	r.talk.user("Move the billing service to the new ledger. Never touch the vendor directory. Always run make lint before you commit. The invoices keep their numbers.")
	return r
}

// round lets the model work on one more thing.
func (r *longRun) round() {
	n, from := r.rounds, len(r.talk.conv.Messages)
	r.rounds++
	file := fmt.Sprintf("internal/ledger/account_%d.go", n)
	r.talk.call("Read", fmt.Sprintf(`{"file_path":%q}`, file), prose(n, 900))
	if n%3 == 0 {
		r.talk.call("Bash", fmt.Sprintf(`{"command":"go test ./internal/ledger -run TestAccount%d"}`, n),
			fmt.Sprintf("--- FAIL: TestAccount%d\n    account_%d_test.go:%d: balance of ACC-%d is off by rounding\nFAIL", n, n, 40+n, 7000+n))
		r.talk.assistant(fmt.Sprintf("The rounding in `%s` loses a cent because postAccount%d converts the amount before it adds the fee, so the balance of ACC-%d is wrong.", file, n, 7000+n))
		if n%9 == 0 {
			r.talk.user(map[int]string{
				9: "From now on, never change a migration that was released.", 18: "Amounts are always in minor units.",
			}[n] + fmt.Sprintf(" Now account %d.", n+1))
		}
	}
	r.size += r.opts.Estimator.Messages(r.talk.conv.Messages[from:])
}

// real makes the rounds of a session the rounds of the run.
func (r *longRun) real(ms []decant.Message) {
	cuts := decant.Cuts(ms)
	r.talk.conv.Messages = ms[:0:0]
	r.more = func() bool {
		from := len(r.talk.conv.Messages)
		i, _ := slices.BinarySearch(cuts, from+1)
		if i == len(cuts) {
			return false
		}
		r.talk.conv.Messages = ms[:cuts[i]:cuts[i]]
		r.size += r.opts.Estimator.Messages(ms[from:cuts[i]])
		return true
	}
}

// pour lets the conversation grow until a pour is due, and pours it. It returns nil when there is nothing more.
func (r *longRun) pour() *policy.Proposal {
	r.t.Helper()
	for r.size <= r.opts.Trigger-2000 {
		if !r.more() {
			return nil
		}
	}
	r.prepare()
	for ok := false; !ok; ok = r.size > r.opts.Trigger {
		if !r.more() {
			return nil
		}
	}
	p, err := policy.Propose(r.t.Context(), &r.talk.conv, r.opts)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := p.Write(r.t.Context(), r.asking()); err != nil && !errors.Is(err, errAway) &&
		!errors.Is(err, decant.ErrSummary) {
		r.t.Fatal(err)
	}
	if r.cp = decant.CheckpointIn(p.Plan.Decisions); r.cp == nil {
		r.size = p.Plan.After.Messages
		return p
	}
	r.keep(r.cp.Segments...)
	r.opts.Segments = r.cp.Segments
	r.size = p.Plan.After.Messages
	return p
}

// prepare has the next segment written, if there is enough for one.
func (r *longRun) prepare() {
	r.t.Helper()
	from, to, ok := policy.Stretch(r.t.Context(), &r.talk.conv, r.opts)
	if !ok {
		return
	}
	seg, cost, err := policy.WriteSegment(r.t.Context(), r.asking(), &r.talk.conv, r.opts, from, to)
	if err != nil || cost.USD != 0.01 {
		if !errors.Is(err, errAway) && !errors.Is(err, decant.ErrSummary) {
			r.t.Fatal(cost, err)
		}
		return
	}
	r.keep(seg)
	r.opts.Segments = append(r.opts.Segments, seg)
}

// keep fails the test when a segment is not what it was.
func (r *longRun) keep(segments ...decant.Segment) {
	r.t.Helper()
	for _, s := range segments {
		if was, ok := r.frozen[s.From]; ok && !cmp.Equal(was, s) {
			r.t.Fatalf("a segment was changed: %s", cmp.Diff(was, s))
		}
		r.frozen[s.From] = s
	}
}

var errAway = errors.New("the model is not there")

// asking returns the summariser, which fails the test when it is given a line of a segment to read.
func (r *longRun) asking() summariser {
	return func(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
		read := ""
		for i := range in.Messages {
			read += in.Messages[i].Text(decant.KindText, decant.KindUse, decant.KindResult) + "\n"
		}
		for _, f := range in.Facts {
			read += f.Text + "\n"
		}
		for _, s := range r.frozen {
			for line := range strings.Lines(s.Text) {
				if len(line) > 30 && strings.Contains(read, strings.TrimSpace(line)) {
					r.t.Errorf("a summariser was given a line of the segment of m%d to m%d: %s", s.From, s.To, line)
				}
			}
		}
		return r.write(ctx, in)
	}
}

// held returns the share of what the user typed in the first messages that the record has, letter by letter.
func (r *longRun) held(upTo int) float64 {
	all, held := 0, 0
	for i := range r.talk.conv.Messages[:upTo] {
		for k := range r.talk.conv.Messages[i].Blocks {
			b := &r.talk.conv.Messages[i].Blocks[k]
			if b.Author != decant.AuthorUser || r.talk.conv.Messages[i].Number < r.cp.From {
				continue
			}
			all++
			if strings.Contains(r.cp.Summary, b.Text()) {
				held++
			}
		}
	}
	return float64(held) / float64(max(all, 1))
}

// fresh measures the record against an extraction of all that it stands for, in as many tokens.
func (r *longRun) fresh() (record, extraction recall.Result) {
	return r.measured(r.talk.conv.Messages[r.cp.From-1 : r.cp.To])
}

// measured measures the record and a fresh extraction of ms.
func (r *longRun) measured(ms []decant.Message) (record, extraction recall.Result) {
	r.t.Helper()
	text := r.cp.Summary
	if i := strings.Index(text, "\n\n# "); i > 0 { // what is quoted whole, from instructions and pins
		text = text[:i]
	}
	s, err := summary.Extract(r.t.Context(), ms, summary.Options{
		Budget: r.opts.Estimator.Count(text), Counter: r.opts.Estimator,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return recall.Of(r.t.Context(), ms, text), recall.Of(r.t.Context(), ms, s.Text)
}

// What models wrote is frozen. After 60 pours, or a few at quick depth, every segment is what it was when it
// was written, the user's words are there as after the first, and all else is no less than one fresh
// extraction would hold.
func TestSixtyPours(t *testing.T) {
	for name, write := range map[string]summariser{"Always": tale, "NowAndThen": flaky()} {
		t.Run(name, func(t *testing.T) {
			pours := testkit.Depth(6, 60)
			r := newLongRun(t, write)
			first, upTo := 0.0, 0
			for n := 1; n <= pours; n++ {
				p := r.pour()
				if n == 1 {
					upTo = r.cp.To
					first = r.held(upTo)
				}
				if n != 1 && n != 6 && n != pours {
					continue
				}
				got, want := r.fresh()
				t.Logf("pour %d: m%d to m%d, %d segments, %s, %d tokens, user's words %.2f, grounded %.3f, fresh %.3f, %v",
					n, r.cp.From, r.cp.To, len(r.cp.Segments), r.cp.Rung, r.cp.Compressed, r.held(upTo), got.Score, want.Score, p.Plan.Notes)
				if got.Score < want.Score {
					t.Errorf("pour %d: the record holds %.3f, a fresh extraction %.3f", n, got.Score, want.Score)
				}
				if held := r.held(upTo); held < .9*first || first == 0 {
					t.Errorf("pour %d: %.2f of the user's words, %.2f after the first", n, held, first)
				}
			}
			if len(r.cp.Segments) < pours/2 {
				t.Errorf("%d segments after %d pours", len(r.cp.Segments), pours)
			}
		})
	}
}

// dataEnv names a folder with more sessions: AGENT/.../*.jsonl.gz. Those of testdata are always read.
const dataEnv = "DECANT_DATA"

// Real sessions, poured again and again: no segment changes or is read by a summariser, and what the record
// holds of them is written down beside what a fresh extraction would hold.
func TestPoursOfRealSessions(t *testing.T) {
	files := []string{"../../testdata/claude-code-session.jsonl.gz", "../../testdata/codex-session.jsonl.gz"}
	if dir := os.Getenv(dataEnv); dir != "" {
		here, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		more, err := filepath.Glob(filepath.Join(dir, "claude-code", "*", "*.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range more {
			if name, err = filepath.Rel(here, name); err != nil {
				t.Fatal(err)
			}
			files = append(files, name)
		}
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			name, err := filepath.Rel("../../testdata", name)
			if err != nil {
				t.Fatal(err)
			}
			c := recorded.Session(t, name).Conversation
			r := newLongRun(t, flaky())
			r.opts.Target, r.opts.Trigger, r.opts.Limit = 16_000, 32_000, 40_000
			r.real(c.Live())
			pours, told := 0, 0
			for p := r.pour(); p != nil; p = r.pour() {
				pours++
				if r.cp != nil && r.cp.Rung == decant.RungModel {
					told++
				}
			}
			if r.cp == nil {
				t.Skip("it is too short for a record")
			}
			ms := c.Live()
			from := ms[0].Number
			record, fresh := r.measured(ms[r.cp.From-from : r.cp.To-from+1])
			t.Logf("%d pours, %d with lines of a model, %d segments, the record grounds %.3f, a fresh extraction %.3f",
				pours, told, len(r.cp.Segments), record.Score, fresh.Score)
			if record.Score < fresh.Score-.03 {
				t.Errorf("the record grounds %.3f, a fresh extraction of the same size %.3f", record.Score, fresh.Score)
			}
		})
	}
}

// Whatever summarisers write over some pours: a view fits and holds no less than without them, segments stay what they
// were, no summariser reads one, and the same segments give the same bytes.
func TestWhateverIsWrittenAboutIt(t *testing.T) {
	ways := slices.Sorted(maps.Keys(misbehaving))
	rapid.Check(t, func(rt *rapid.T) {
		r := newLongRun(t, func(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
			how := rapid.SampledFrom(append(ways, "Tale", "Tale", "Tale")).Draw(rt, "how")
			if how == "Tale" {
				return tale(ctx, in)
			}
			return misbehaving[how](ctx, in)
		})
		r.opts.Target, r.opts.Trigger, r.opts.Limit = 2500, 6000, 7000
		for range rapid.IntRange(1, 3).Draw(rt, "pours") {
			p := r.pour()
			o := r.opts
			if p.Plan.After.Messages > p.Plan.Target || p.Plan.Target > o.Target+o.Target/20 {
				rt.Fatalf("%d tokens, the target is %d", p.Plan.After.Messages, p.Plan.Target)
			}
			again, _ := planned(t, &r.talk.conv, o)
			if cp := decant.CheckpointIn(again.Decisions); cp.Summary != r.cp.Summary {
				rt.Fatalf("the same segments give another record:\n%s", cmp.Diff(r.cp.Summary, cp.Summary))
			}
			o.Segments = nil
			if floor, _ := planned(t, &r.talk.conv, o); p.Plan.Score < floor.Score {
				rt.Fatalf("the view holds %.3f, the extractive one %.3f", p.Plan.Score, floor.Score)
			}
		}
	})
}

// flaky returns a summariser that is not there every third time.
func flaky() summariser {
	n := 0
	return func(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
		if n++; n%3 == 0 {
			return provider.Summary{CostUSD: 0.01}, errAway
		}
		return tale(ctx, in)
	}
}
