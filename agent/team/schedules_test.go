package team_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// fullSchedules is how many schedules are played at full depth: what ends in some minutes under the race detector.
const fullSchedules = 250

// Whatever the coordinator, its delegates and people do at the same time, and however long requests take: the bytes that the provider
// receives of each delegate begin with those that the coordinator was sent when it delegated, as long as the delegate's window has
// room for them. What explains a schedule that fails is kept among the test's artifacts (go test -artifacts): who wins a race is not
// drawn, so the same number is another schedule next time.
func TestDelegatesBeginWithTheSealedState(t *testing.T) {
	n := testkit.Depth(4, fullSchedules)
	a := newArena(t)
	for i := range n {
		s := a.play(uint64(i))
		if t.Failed() {
			a.keep(t.ArtifactDir(), s)
			t.Fatalf("schedule %d", i)
		}
		if i%100 == 99 {
			t.Logf("%d schedules", i+1)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t.Logf("%d schedules: %d delegates, %d of them with a projection; %d pours of coordinators, %d of delegates, %d by people; %d kills, %d of them went on elsewhere",
		n, a.delegates, a.projections, a.poured, a.branches, a.forced, a.kills, a.elsewhere)
	if n >= 100 && min(a.projections, a.poured, a.branches, a.forced, a.kills, a.elsewhere) == 0 {
		t.Error("something of that never happens")
	}
}

// An arena is where schedules are played: a stand-in for the API on the loopback device, which answers after a random time, and two
// processes on one database.
type arena struct {
	testing.TB
	server *sandbox.Server
	client provider.Speaker
	dbs    [2]*embedded.DB
	file   string // the database

	mu     sync.Mutex
	rng    *rand.Rand
	rounds int // of delegates

	sealed map[int]*request // what was answered with a round of delegations, by its number

	delegates, projections, poured, branches, forced, kills, elsewhere int
}

// arenaWindow is the window of all models: small, so that there are many pours.
const arenaWindow = 16_000

// arenaAnswer is how long answers may be.
const arenaAnswer = 1000

func newArena(t testing.TB) *arena {
	t.Helper()
	a := &arena{TB: t, rng: rand.New(rand.NewPCG(0, 0)), sealed: map[int]*request{}}
	a.server = sandbox.New(sandbox.Options{Model: sandboxtest.Model(a.answer), Window: arenaWindow, LogSize: 10_000, LogBytes: 1 << 30})
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		a.rest()
		a.server.ServeHTTP(rw, r)
	}))
	t.Cleanup(srv.Close)
	rt := &http.Transport{}
	t.Cleanup(rt.CloseIdleConnections)
	var err error
	if a.client, err = anthropic.New(anthropic.Options{Base: srv.URL, Transport: rt, Credential: provider.Key("x-api-key", "test")}); err != nil {
		t.Fatal(err)
	}
	a.file = filepath.Join(t.TempDir(), "team.db")
	for i := range a.dbs {
		if a.dbs[i], err = embedded.Open(t.Context(), a.file, &embedded.Options{Engine: engine.Options{Window: arenaWindow, Timeouts: sandboxtest.Patient}}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.dbs[i].Close() })
	}
	return a
}

// draw returns a random number below n.
func (a *arena) draw(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rng.IntN(n)
}

// rest takes a random time, mostly a short one.
func (a *arena) rest() { time.Sleep(time.Duration(a.draw(4)*a.draw(4)*a.draw(300)) * time.Microsecond) }

// answer is the model: the coordinator reads or delegates as it is told, and delegates read as long as chance will have it.
func (a *arena) answer(p *sandbox.Prompt) sandbox.Answer {
	said := told(p)
	switch {
	case strings.HasPrefix(said, "Delegate"):
		if task(p) == "" {
			return a.delegation("marco", "sara", "leo")
		}
	case strings.HasPrefix(said, "Read"):
		return says(text("I read."), use("", "read", fmt.Sprintf(`{"size":%d}`, a.draw(20_000))))
	}
	delegate := strings.Contains(strings.Join(p.System, "")+history(p), "From here on you are")
	if delegate && a.draw(3) > 0 {
		return says(use("", "read", fmt.Sprintf(`{"size":%d}`, a.draw(20_000))))
	}
	return says(text("Done. " + strings.Repeat("It was so. ", a.draw(200))))
}

// delegation returns an answer that delegates tasks. They have the number of the round.
func (a *arena) delegation(names ...string) sandbox.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rounds++
	var blocks []sandbox.Block
	for _, name := range names {
		blocks = append(blocks, use("", "delegate", fmt.Sprintf(`{"to":%q,"task":"Task of %s, #%d."}`, name, name, a.rounds)))
	}
	return says(blocks...)
}

// numbers are the numbers of rounds.
var numbers = regexp.MustCompile(`, #(\d+)\.`)

// roundIn returns the number of the round that a text speaks of.
func roundIn(text string) int {
	n, _ := strconv.Atoi(numbers.FindStringSubmatch(text)[1])
	return n
}

// history returns all that the user has said in a prompt.
func history(p *sandbox.Prompt) string {
	var b strings.Builder
	for _, m := range p.Messages {
		for _, block := range m.Blocks {
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

// read is a tool that returns as much as it is asked for.
func (a *arena) read() agent.Tool {
	type size struct {
		Size int `json:"size"`
	}
	read := agent.Func("read", "Reads.", func(_ context.Context, _ *agent.Call, s size) (agent.Result, error) {
		a.rest()
		return agent.Result{Text: strings.Repeat("These are some words of a file. ", s.Size/32)}, nil
	})
	read.ReadOnly = true
	return read
}

// team returns the team of a process.
func (a *arena) team(process int) *team.Team {
	x, err := team.New(a.client, team.Options{
		Agent: agent.Options{Engine: a.dbs[process].Engine(), Journals: a.dbs[process].Store(), Model: "claude-sonnet-4-5", System: "You coordinate.",
			MaxTokens: arenaAnswer, Turns: 6, Tools: []agent.Tool{a.read()}},
		Members: []team.Member{
			{Name: "marco", Description: "has all that the coordinator has"},
			{Name: "sara", Description: "has a prompt and tools of her own", Prompt: "You are quick.", Tools: []string{"read"}},
			{Name: "leo", Description: "has a smaller window", Model: "claude-haiku-4-5", Window: 7_000},
		},
		Heard: func(_ team.Delegation, e agent.Event) {
			if e.Kind == agent.EventPour {
				a.mu.Lock()
				a.branches++
				a.mu.Unlock()
			}
		},
	})
	if err != nil {
		a.Fatal(err)
	}
	return x
}

// play plays a schedule and judges by what the sandbox has received. It returns the coordinator's session.
func (a *arena) play(seed uint64) *agent.Session {
	a.mu.Lock()
	a.rng = rand.New(rand.NewPCG(seed, 3))
	maps.DeleteFunc(a.sealed, func(round int, _ *request) bool { return round < a.rounds-100 }) // requests of killed delegates may come late
	a.mu.Unlock()
	a.server.Log.Reset()
	s := a.team(0).Agent().Session(fmt.Sprint("schedule-", seed))
	for i, turns := 0, 2+a.draw(8); i < turns; i++ {
		say := "Read."
		if i == turns-1 || a.draw(4) == 0 {
			say = "Delegate."
		}
		s = a.turn(s, fmt.Sprint(say, " Step ", i))
	}
	a.check(s)
	return s
}

// keep keeps in a folder what the sandbox has received and answered in the schedule, what was said to the coordinator, and what is stored.
func (a *arena) keep(folder string, s *agent.Session) {
	said, err := json.MarshalIndent(s.Messages(), "", "\t")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "said.json"), said, 0o600)
	}
	var log bytes.Buffer
	for _, e := range a.server.Log.Entries() {
		fmt.Fprintf(&log, "%d at %s: status %d %s, %d tokens, stop %s\n%s\n%s\n\n", e.Number, e.Time.Format(time.StampMicro), e.Status, e.Error, e.Prompt, e.Stop, e.Body, e.Answer)
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(folder, "requests.txt"), log.Bytes(), 0o600))
	for _, part := range []string{"", "-wal"} {
		b, fault := os.ReadFile(a.file + part)
		err = errors.Join(err, fault, os.WriteFile(filepath.Join(folder, "team.db"+part), b, 0o600))
	}
	if err != nil {
		a.Error("what explains the failure is not kept: ", err)
	}
}

// turn is one turn of the coordinator. Sometimes it is killed in the middle, and then goes on, sometimes in another process; sometimes
// somebody pours its conversation meanwhile.
func (a *arena) turn(s *agent.Session, say string) *agent.Session {
	ctx, cancel := context.WithCancel(a.Context())
	defer cancel()
	var people sync.WaitGroup
	kill := a.draw(4) == 0
	if kill {
		people.Go(func() { time.Sleep(time.Duration(a.draw(40)) * time.Millisecond); cancel() })
	}
	if a.draw(3) == 0 {
		people.Go(func() {
			for ctx.Err() == nil {
				a.rest()
				a.pourByHand(s)
			}
		})
	}
	for e, err := range s.Run(ctx, say) {
		if e.Kind == agent.EventPour {
			a.poured++
		}
		if err != nil && !kill {
			a.Errorf("%s: %v", say, err)
		}
	}
	cancel()
	people.Wait()
	if !kill {
		return s
	}
	a.kills++
	if a.draw(2) == 0 {
		var err error
		if s, err = a.team(1).Agent().Open(a.Context(), s.ID()); err != nil {
			a.Fatal(err)
		}
		a.elsewhere++
	}
	if _, o, err := ran(a, s.Run(a.Context(), "Go on.")); err != nil || o.Stop != agent.StopAnswered {
		a.Errorf("after the kill: %+v, %v", o, err)
	}
	return s
}

// pourByHand pours what the engine keeps of a session, as somebody does who types /compact.
func (a *arena) pourByHand(s *agent.Session) {
	change, err := a.dbs[0].Engine().Preview(a.Context(), s.Conversation())
	if err == nil {
		err = a.dbs[0].Engine().Apply(a.Context(), change)
	}
	if err == nil {
		a.mu.Lock()
		a.forced++
		a.mu.Unlock()
	}
}

// A verdict is what became of delegates by what the sandbox has received.
type verdict struct {
	begun, projections int
	strangers          []string        // begin with something else than they should
	beginnings         map[string]bool // what they begin with
	narrow             map[string]bool // tasks for which the window has no room behind the snapshot: the provider has refused them for their size, or what was sealed fills it
}

// judge holds each delegate's first request against the one that was answered with the delegation. That one is found by its answer: nothing
// here asks the team.
func (a *arena) judge() verdict {
	v := verdict{narrow: map[string]bool{}, beginnings: map[string]bool{}}
	for _, e := range a.server.Log.Entries() {
		if !json.Valid(e.Body) {
			continue // it was killed while it was sent
		}
		if e.Error != "" && !strings.Contains(e.Error, "too long") {
			a.Errorf("request %d was refused with %d: %s", e.Number, e.Status, e.Error)
		}
		r := received(a, e.Body)
		last := r.messages[len(r.messages)-1]
		if bytes.Contains(e.Answer, []byte(`"name":"delegate"`)) {
			r.full = e.Prompt > arenaWindow-arenaAnswer-arenaWindow/20 // with a task of some tokens, and an estimate that is off by a little
			a.sealed[roundIn(string(e.Answer))] = &r
		} else if strings.HasPrefix(last, `{"role":"user","content":[{"type":"text","text":"From here on you are `) { // a record may quote it
			v.judge(&r, a.sealed[roundIn(last)], last, e.Error != "")
		}
	}
	return v
}

// judge judges the first request of a delegate, whose last message is given.
func (v *verdict) judge(r, sealed *request, last string, refused bool) {
	_, task, _ := strings.Cut(last, `The task:\n`)
	task = strings.TrimSuffix(task, `"}]}`)
	narrow := v.narrow[task] || sealed.full || strings.Contains(last, "you are leo")
	v.narrow[task] = v.narrow[task] || sealed.full || refused
	v.begun++
	v.beginnings[strings.Join(r.messages[:len(r.messages)-1], "")] = true
	switch {
	case r.begins(sealed) && len(r.messages) == len(sealed.messages)+1:
	case narrow && len(r.messages) <= len(sealed.messages)+1:
		v.projections++
	default:
		v.strangers = append(v.strangers, fmt.Sprintf("begins with %d messages that are not the %d of the snapshot: %.200s", len(r.messages)-1, len(sealed.messages), last))
	}
}

// check judges a schedule, and holds the ledger of the coordinator against it.
func (a *arena) check(s *agent.Session) {
	v := a.judge()
	a.delegates, a.projections = a.delegates+v.begun, a.projections+v.projections
	for _, what := range v.strangers {
		a.Error("a delegate " + what)
	}
	ended := regexp.MustCompile("interrupted|not made|context canceled")
	for _, d := range team.Ledger(s.Messages()) {
		if d.Outcome == "failed" || d.ID == "" && !ended.MatchString(d.Outcome) {
			a.Errorf("a delegation has failed: %+v", d)
		}
		if d.Projection != "" && d.To != "leo" && !v.narrow[d.Task] && d.Projection != d.Snapshot {
			a.Errorf("%s begins with %s, not %s", d.To, d.Projection, d.Snapshot)
		}
	}
}

// The control arm: delegates that begin with what the coordinator knows when their time comes, as forks of its session, begin neither with
// what it was sent when it delegated nor with the same. The judge sees it.
func TestWithoutASealDelegatesDiffer(t *testing.T) {
	a, apart := newArena(t), 0
	for seed := range uint64(5) {
		a.rng = rand.New(rand.NewPCG(seed, 4))
		a.server.Log.Reset()
		v := a.unsealed()
		if v.begun != 3 || len(v.strangers) < 2 { // the judge excuses leo
			t.Errorf("schedule %d: %d delegates, %d of them begin with something else: want marco and sara", seed, v.begun, len(v.strangers))
		}
		if len(v.beginnings) > 1 {
			apart++
		}
	}
	if apart == 0 {
		t.Error("the delegates of each schedule begin with the same")
	}
}

// unsealed lets the delegates of a round begin one by one, while the coordinator goes on.
func (a *arena) unsealed() verdict {
	type order struct {
		To   string `json:"to"`
		Task string `json:"task"`
	}
	var tasks []string
	delegate := agent.Func("delegate", "Delegates.", func(_ context.Context, _ *agent.Call, o order) (agent.Result, error) {
		tasks = append(tasks, fmt.Sprintf("From here on you are %s. The task:\n%s", o.To, o.Task))
		return agent.Result{Text: "It is under way."}, nil
	})
	x, err := agent.New(a.client, agent.Options{Engine: a.dbs[0].Engine(), Model: "claude-sonnet-4-5", System: "You coordinate.", MaxTokens: arenaAnswer,
		Tools: []agent.Tool{a.read(), delegate}})
	if err != nil {
		a.Fatal(err)
	}
	s := x.Session("")
	a.say(s, "Read.")
	a.say(s, "Delegate.")
	var delegates sync.WaitGroup
	for len(tasks) > 0 {
		for n := a.draw(3); n > 0 && len(tasks) > 0; n-- {
			f, err := s.Fork("")
			if err != nil {
				a.Fatal(err)
			}
			task := tasks[0]
			delegates.Go(func() { a.say(f, task) })
			tasks = tasks[1:]
		}
		a.say(s, "Read more.")
	}
	delegates.Wait()
	return a.judge()
}

// say runs a turn to its end.
func (a *arena) say(s *agent.Session, text string) {
	for _, err := range s.Run(a.Context(), text) {
		if err != nil {
			a.Error(err)
		}
	}
}
