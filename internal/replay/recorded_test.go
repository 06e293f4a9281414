package replay

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// A scene is a recorded session in the making: an agent whose system prompt and tools have 20,000 tokens that
// the recording does not show, and which the provider reads and writes as the test says.
type scene struct {
	conv  *decant.Conversation
	clock time.Time
	est   *token.Estimator
	model string
}

const hidden = 20_000

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{conv: &decant.Conversation{Agent: "claude-code"}, clock: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC), model: "claude-opus-4-6"}
	s.est = token.For(lookup(t, s.model))
	s.add(decant.RoleUser, decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text("Make it build.")})
	return s
}

func lookup(t *testing.T, id string) token.Model {
	t.Helper()
	models, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := models.Lookup(id)
	return m
}

func (s *scene) add(role decant.Role, blocks ...decant.Block) *decant.Message {
	n := len(s.conv.Messages) + 1
	for k := range blocks {
		blocks[k].Ref = decant.Ref{Message: n, Block: k}
	}
	s.conv.Messages = append(s.conv.Messages, decant.Message{Number: n, Role: role, Time: s.clock, Blocks: blocks})
	return &s.conv.Messages[n-1]
}

// prompt returns the tokens of the next request.
func (s *scene) prompt() int { return hidden + s.est.Messages(s.conv.Messages) }

// round adds an answer after a pause, with the usage of its request, and the result of the call in it.
func (s *scene) round(pause time.Duration, u *decant.Usage) *decant.Message {
	s.clock = s.clock.Add(pause)
	id := fmt.Sprintf("toolu_%d", len(s.conv.Messages))
	m := s.add(decant.RoleAssistant, decant.Block{Kind: decant.KindUse, Name: "Bash", CallID: id, Content: decant.Text(`{"command":"make"}`)})
	m.Model, m.Usage, m.ID = s.model, u, "msg_"+id
	at := m.Number - 1
	text := strings.Repeat("a line of a build that says nothing worth keeping\n", 200)
	s.add(decant.RoleUser, decant.Block{Kind: decant.KindResult, Name: "Bash", CallID: id, Content: decant.Text(fmt.Sprintf("build %d\n%s", at, text))})
	return &s.conv.Messages[at]
}

// said adds a last answer, with the usage of its request, and what the user says to it.
func (s *scene) said(u *decant.Usage) {
	s.clock = s.clock.Add(time.Minute)
	m := s.add(decant.RoleAssistant, decant.Block{Kind: decant.KindText, Content: decant.Text("It builds.")})
	m.Model, m.Usage = s.model, u
	s.add(decant.RoleUser, decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text("And now test it.")})
}

// reads returns the usage of the next request when it reads so much of its prompt, and writes the rest for
// five minutes, or for an hour.
func (s *scene) reads(read int, hour bool) *decant.Usage {
	u := &decant.Usage{CacheRead: read, CacheWrite: s.prompt() - read, Output: 500}
	if hour {
		u.Write1h = u.CacheWrite
	}
	return u
}

func (s *scene) options(t *testing.T, names ...string) Options {
	t.Helper()
	models, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Catalog: models, Details: true}
	for _, n := range names {
		p, err := Parse(n, "")
		if err != nil {
			t.Fatal(err)
		}
		o.Policies = append(o.Policies, p)
	}
	return o
}

func (s *scene) play(t *testing.T, o Options) *Session {
	t.Helper()
	out, err := Play("", s.conv, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLifetimesComeFromTheRecording(t *testing.T) {
	write := func(w, hour int) *decant.Usage { return &decant.Usage{CacheRead: 20_000, CacheWrite: w, Write1h: hour} }
	tests := []struct {
		name  string
		usage []*decant.Usage
		want  []lives
		life  string
		by    string
	}{
		{"FiveMinutes", []*decant.Usage{write(900, 0), write(900, 0)}, []lives{{short, short}, {short, short}}, "5m", Recorded},
		{"AnHour", []*decant.Usage{write(900, 900), write(900, 900)}, []lives{{long, long}, {long, long}}, "1h", Recorded},
		{"SystemForAnHour", []*decant.Usage{write(9000, 8000), write(900, 0)}, []lives{{long, short}, {long, short}}, "mixed", Recorded},
		{"ChangesOnTheWay", []*decant.Usage{write(900, 0), write(900, 900)}, []lives{{short, short}, {long, long}}, "mixed", Recorded},
		{"NothingWrittenGoesByTheOneBefore", []*decant.Usage{write(900, 900), write(0, 0), nil}, []lives{{long, long}, {long, long}, {long, long}}, "1h", Recorded},
		{"NothingWrittenYetGoesByTheNext", []*decant.Usage{nil, write(0, 0), write(900, 900)}, []lives{{long, long}, {long, long}, {long, long}}, "1h", Recorded},
		{"NothingRecorded", []*decant.Usage{nil, nil}, []lives{{short, short}, {short, short}}, "5m", Habit},
		{"ReportedAndNeverCached", []*decant.Usage{{Input: 900}, {Input: 900}}, []lives{{}, {}}, "none", Recorded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			for _, u := range tt.usage {
				s.round(time.Minute, u)
			}
			o := s.options(t)
			seg := newSegment(s.conv, &o, o.models(s.conv))
			for q, want := range tt.want {
				if got := seg.requests[q].lives; got != want {
					t.Errorf("request %d: %+v, want %+v", q+1, got, want)
				}
			}
			if life, by := seg.lifetimes(); life != tt.life || by != tt.by {
				t.Errorf("%s (%s), want %s (%s)", life, by, tt.life, tt.by)
			}
		})
	}
}

// Markers in a recorded request say for how long it asks, where no usage does.
func TestLifetimesComeFromMarkers(t *testing.T) {
	s := newScene(t)
	s.round(time.Minute, nil)
	s.round(time.Minute, nil)
	s.conv.Fixed.System = []decant.Block{{Kind: decant.KindText, Content: decant.Text("Be brief."), Cache: long}}
	s.conv.Messages[2].Blocks[0].Cache = short
	out := s.play(t, s.options(t, "none"))
	if out.Lifetime != "mixed" || out.LifetimeBy != Marked {
		t.Errorf("%s (%s)", out.Lifetime, out.LifetimeBy)
	}
}

// What the client paid is in its usage: all four counters, each answer once, at the day's
// prices; and inspect says the same.
func TestTheClientIsPricedFromItsUsage(t *testing.T) {
	s := newScene(t)
	var want float64
	read := 0
	for i := range 4 {
		u := s.reads(read, true)
		read = u.Prompt()
		u.Input = 7
		s.round(time.Minute, u)
		usd, _ := cost.Of(s.est.Model(), *u, cost.Terms{At: s.clock}).Total()
		want += usd
		if i == 2 { // the same answer once more counts once
			s.conv.Messages[len(s.conv.Messages)-2].ID = "msg_again"
		}
	}
	out := s.play(t, s.options(t, "client", "none"))
	client, none := &out.Results[0], &out.Results[1]
	if math.Abs(client.USD-want) > 1e-9 {
		t.Errorf("the client paid $%.6f, want $%.6f", client.USD, want)
	}
	if out.Recorded == nil || math.Abs(out.Recorded.USD-want) > 1e-9 {
		t.Errorf("recorded: %+v, want $%.6f", out.Recorded, want)
	}
	if client.Modelled != none.USD || none.USD != none.Modelled {
		t.Errorf("the model says $%.6f of the client and $%.6f of sending everything", client.Modelled, none.USD)
	}
	if e := out.Recorded.Error; math.Abs(e) > 0.005 || e == 0 {
		t.Errorf("the model is off by %.4f", e)
	}
	o := s.options(t, "client")
	o.Model = "claude-sonnet-4-5"
	if out := s.play(t, o); out.Recorded != nil || out.Results[0].USD != out.Results[0].Modelled {
		t.Errorf("usage of another model was taken for this one's: %+v", out.Recorded)
	}
}

// What the recording found in the cache holds for every policy, whatever the clock says.
func TestColdMomentsAreThoseOfTheRecording(t *testing.T) {
	tests := []struct {
		name  string
		pause time.Duration
		hour  bool
		read  func(before int) int
		warm  bool // whether the messages are read
	}{
		{"KeptWarmByAnother", 10 * time.Minute, false, func(n int) int { return n }, true},
		{"GoneBeforeItsTime", time.Minute, false, func(int) int { return 0 }, false},
		{"AnHourIsOverAndTheToolsAreThere", 2 * time.Hour, true, func(int) int { return 16_000 }, false},
		{"WithinTheHour", 50 * time.Minute, true, func(n int) int { return n }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.round(time.Minute, s.reads(16_000, tt.hour))
			before := s.conv.Messages[1].Usage.Prompt()
			s.round(time.Minute, s.reads(before, tt.hour))
			before = s.conv.Messages[3].Usage.Prompt()
			s.round(tt.pause, s.reads(tt.read(before), tt.hour))
			got := s.play(t, s.options(t, "none")).Results[0].Series[2].Read
			if warm := got > 20_000; warm != tt.warm {
				t.Errorf("%d of %d tokens were read", got, before)
			}
			if part := tt.read(before); !tt.warm && (got > part || got < part*9/10) {
				t.Errorf("%d tokens were read, the recording says %d", got, part)
			}
		})
	}
}

// An agent that is started again has another system prompt: a gateway sees that, and pours for nothing.
func TestResumedSessionIsColdForTheGateway(t *testing.T) {
	s := newScene(t)
	read := 16_000
	for range 5 {
		u := s.reads(read, true)
		s.round(time.Minute, u)
		read = u.Prompt()
	}
	s.round(time.Minute, s.reads(16_000, true))
	o := s.options(t)
	seg := newSegment(s.conv, &o, o.models(s.conv))
	for q := range seg.requests {
		if got := seg.requests[q].found.anew; got != (q == 5) {
			t.Errorf("request %d: anew is %v", q+1, got)
		}
	}
	if seg.front.common != 16_000 {
		t.Errorf("%d tokens are common to all sessions, want 16,000", seg.front.common)
	}
}

// A session may have been answered by several models: each at its own price, none reads another's cache.
func TestEachAnswerIsPricedByItsModel(t *testing.T) {
	s := newScene(t)
	s.model = "claude-haiku-4-5"
	s.round(time.Minute, nil)
	s.round(time.Minute, nil)
	s.model = "claude-opus-4-6"
	s.round(time.Minute, nil)
	o := s.options(t, "none")
	o.Fixed = hidden
	series := s.play(t, o).Results[0].Series
	o.Model = "claude-opus-4-6"
	all := s.play(t, o).Results[0].Series
	if series[2].Read != 0 || all[2].Read == 0 {
		t.Errorf("after the switch %d tokens were read, of one model %d", series[2].Read, all[2].Read)
	}
	if share := series[1].USD / all[1].USD; share > 0.3 {
		t.Errorf("the small model's answer costs %.2f of the large one's", share)
	}
}

// Where the client answers in the model's place, as when a session is resumed, nothing was asked for.
func TestAnswersOfTheClientAreNoRequests(t *testing.T) {
	s := newScene(t)
	s.round(time.Minute, s.reads(0, false))
	m := s.round(time.Minute, nil)
	m.Model = ""
	s.round(time.Minute, s.reads(0, false))
	if got := s.play(t, s.options(t, "none")).Results[0].Requests; got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
}

// Prompts are as large as was reported: text counts as it did, and what came unseen is there for all.
func TestSizesAreFittedToTheRecording(t *testing.T) {
	s := newScene(t)
	u := s.reads(0, false)
	s.round(time.Minute, u)
	grown := s.prompt() - u.Prompt()
	v := &decant.Usage{CacheRead: u.Prompt(), CacheWrite: grown * 13 / 10, Output: 500} // text counts 1.3 times
	s.round(time.Minute, v)
	w := &decant.Usage{CacheRead: v.Prompt(), CacheWrite: 30_000, Output: 500} // and a file came along unseen
	s.round(time.Minute, w)
	out := s.play(t, s.options(t, "none", "keep-last-0"))
	for q, want := range []int{u.Prompt(), v.Prompt(), w.Prompt()} {
		if got := out.Results[0].Series[q].Prompt; got < want-5 || got > want+5 {
			t.Errorf("request %d has %d tokens, %d were reported", q+1, got, want)
		}
	}
	if got := out.Results[1].Peak; got < hidden+20_000 {
		t.Errorf("what came unseen is cleared with the results: %d tokens", got)
	}
}

// What the client cleared of its own history while the cache was warm is its own policy: it is smaller for
// it from then on, and loses what it had cached behind the change. Sending everything does neither.
func TestTheClientsOwnClearingIsItsOwn(t *testing.T) {
	s := newScene(t)
	read := 0
	for range 6 {
		u := s.reads(read, true)
		s.round(time.Minute, u)
		read = u.Prompt()
	}
	s.round(time.Minute, &decant.Usage{CacheRead: hidden + 200, CacheWrite: 5000, Write1h: 5000, Output: 500})
	out := s.play(t, s.options(t, "client", "none"))
	client, none := out.Results[0].Series[6], out.Results[1].Series[6]
	if client.Prompt < 25_000 || client.Prompt > 25_400 || out.Results[0].Busts != 1 {
		t.Errorf("the client sent %d tokens with %d busts, 25,200 were reported", client.Prompt, out.Results[0].Busts)
	}
	if none.Prompt <= read || none.Read < read-100 || out.Results[1].Busts != 0 {
		t.Errorf("sending everything has %d tokens, %d of them read", none.Prompt, none.Read)
	}
	if e := out.Recorded.Error; math.Abs(e) > 0.02 {
		t.Errorf("the model is off by %.3f", e)
	}
}

// What was lost when a session was resumed is lost for every policy.
func TestWhatAResumeDropsIsGoneForAll(t *testing.T) {
	s := newScene(t)
	read := 16_000
	for range 6 {
		u := s.reads(read, true)
		s.round(time.Minute, u)
		read = u.Prompt()
	}
	s.said(s.reads(read, true))
	s.round(time.Minute, &decant.Usage{CacheRead: 16_000, CacheWrite: 9000, Write1h: 9000, Output: 500})
	out := s.play(t, s.options(t, "client", "none"))
	for _, r := range out.Results {
		if got := r.Series[7]; got.Prompt < 24_500 || got.Prompt > 25_500 || got.Read < 15_000 || got.Read > 16_000 {
			t.Errorf("%s sent %d tokens and read %d; 25,000 and 16,000 were reported", r.Policy, got.Prompt, got.Read)
		}
	}
}

// Claude Code marks the end of one message, opencode of two.
func TestMessagesAreMarkedAsClientsDo(t *testing.T) {
	for agent, want := range map[string]int{"claude-code": 1, "opencode": 2, "": 1} {
		s := newScene(t)
		s.conv.Agent = agent
		s.round(time.Minute, nil)
		s.round(time.Minute, nil)
		s.round(time.Minute, nil)
		o := s.options(t)
		seg := newSegment(s.conv, &o, o.models(s.conv))
		blocks, _ := newLayout(s.est, seg).prompt(s.conv.Messages)
		var marked []int
		for i, b := range blocks {
			if b.Cache != "" && i > 0 {
				marked = append(marked, len(blocks)-i)
			}
		}
		if diff := cmp.Diff([]int{3, 1}[2-want:], marked); diff != "" {
			t.Errorf("%q marks, from the end: (-want +got)\n%s", agent, diff)
		}
	}
}

// A partial miss of the provider's is not a policy's doing.
func TestWhatTheProviderMissedIsMissedByAll(t *testing.T) {
	f := found{known: true, messages: warm, share: 0.75}
	tests := []struct{ u, want decant.Usage }{
		{decant.Usage{CacheRead: 60_000, CacheWrite: 1000}, decant.Usage{CacheRead: 50_000, CacheWrite: 11_000}},
		{decant.Usage{CacheRead: 60_000, CacheWrite: 1000, Write1h: 1000}, decant.Usage{CacheRead: 50_000, CacheWrite: 11_000, Write1h: 11_000}},
		{decant.Usage{CacheRead: 60_000, Input: 1000}, decant.Usage{CacheRead: 50_000, Input: 11_000}},
		{decant.Usage{CacheRead: 20_000, CacheWrite: 1000}, decant.Usage{CacheRead: 20_000, CacheWrite: 1000}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, f.less(tt.u, 20_000)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func TestErrorsOfSessions(t *testing.T) {
	of := func(paid, modelled float64) *Session {
		return &Session{Recorded: &Against{Paid: cost.Paid{USD: paid + 1}, PaidUSD: paid, Modelled: modelled, Error: modelled/paid - 1}}
	}
	got := ErrorsOf([]*Session{of(10, 11), {}, of(10, 7), of(20, 20)})
	if got.Sessions != 3 || math.Abs(got.Mean-0.4/3) > 1e-9 || math.Abs(got.Median-0.1) > 1e-9 || math.Abs(got.Bias+0.05) > 1e-9 || got.PaidUSD != 43 {
		t.Errorf("%+v", got)
	}
	if got := ErrorsOf(nil); got != (Errors{}) {
		t.Errorf("%+v", got)
	}
}
