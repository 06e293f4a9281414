package receipt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const hosts = 400

// A bureau is an agent that reads lists of hosts with a small window, and tells of a host what it was sent, or else makes something up.
type bureau struct {
	*testing.T
	path   string
	client provider.Speaker
	db     *embedded.DB
	agent  *agent.Agent
	ports  []int // of each host
	made   int   // the number that is made up
}

// text returns all text of a prompt.
func textOf(p *sandbox.Prompt) string {
	var b strings.Builder
	for _, m := range p.Messages {
		for _, k := range m.Blocks {
			b.WriteString(k.Text + "\n")
		}
	}
	return b.String()
}

// Answer is the model: a function of the prompt, which never says that it does not know.
func (b *bureau) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	last := p.Messages[len(p.Messages)-1].Blocks
	said := last[len(last)-1]
	say := func(blocks ...sandbox.Block) (sandbox.Answer, error) { return sandbox.Answer{Blocks: blocks}, nil }
	switch {
	case said.Kind == decant.KindText && strings.HasPrefix(said.Text, "Read"):
		return say(sandbox.Block{Kind: decant.KindUse, ID: fmt.Sprintf("toolu_%d", len(p.Messages)), Name: "read", Input: []byte(fmt.Sprintf(`{"what":%q}`, said.Text))})
	case said.Kind == decant.KindResult:
		return say(sandbox.Block{Kind: decant.KindText, Text: "Done."})
	}
	host := regexp.MustCompile(`host-\d+`).FindString(said.Text)
	port := fmt.Sprint(b.made)
	if m := regexp.MustCompile(host + ` listens on port (\d+)`).FindStringSubmatch(textOf(p)); m != nil {
		port = m[1]
	}
	return say(sandbox.Block{Kind: decant.KindText, Text: fmt.Sprintf("The machine %s listens on port %s.", host, port)})
}

// open opens the database as another process would.
func (b *bureau) open() {
	b.Helper()
	var err error
	if b.db, err = embedded.Open(b.Context(), b.path, &embedded.Options{Engine: engine.Options{Window: 24_000, Timeouts: sandboxtest.Patient}}); err != nil {
		b.Fatal(err)
	}
	type args struct {
		What string `json:"what"`
	}
	read := agent.Func("read", "Reads.", func(_ context.Context, _ *agent.Call, a args) (agent.Result, error) {
		var out strings.Builder
		for i, port := range b.ports {
			if strings.Contains(a.What, "hosts") {
				fmt.Fprintf(&out, "host-%d listens on port %d\n", i, port)
			} else {
				fmt.Fprintf(&out, "a line of nothing in particular, number %d\n", i*7)
			}
		}
		return agent.Result{Text: out.String()}, nil
	})
	read.ReadOnly = true
	b.agent, err = agent.New(b.client, agent.Options{
		Model: "claude-sonnet-4-5", System: "You keep the list of machines of the harbour office.", Engine: b.db.Engine(), Journals: b.db.Store(), Tools: []agent.Tool{read}, MaxTokens: 2000,
	})
	if err != nil {
		b.Fatal(err)
	}
}

func newBureau(t *testing.T) *bureau {
	t.Helper()
	b := &bureau{T: t, path: filepath.Join(t.TempDir(), "bureau.db"), made: 98_765}
	for range hosts {
		b.ports = append(b.ports, 10_000+rand.IntN(80_000))
	}
	b.client = sandboxtest.Client(t, sandbox.New(sandbox.Options{Model: b}))
	b.open()
	t.Cleanup(func() { b.db.Close() })
	return b
}

// says says something, and returns the index of the answer and how often was poured.
func (b *bureau) says(s *agent.Session, text string) (answer, pours int) {
	b.Helper()
	for e, err := range s.Run(b.Context(), text) {
		if err != nil {
			b.Fatal(err)
		}
		if e.Kind == agent.EventPour {
			pours++
		}
	}
	return len(s.Messages()) - 1, pours
}

// why returns the receipt for an answer.
func (b *bureau) why(s *agent.Session, answer int) *Receipt {
	b.Helper()
	m, err := s.Moment(b.Context(), b.db.Store(), answer)
	if err != nil {
		b.Fatal(err)
	}
	return Of(m)
}

// undo takes back the newest pour.
func (b *bureau) undo(s *agent.Session) {
	b.Helper()
	e := b.db.Engine()
	if err := e.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	c, err := e.Undo(b.Context(), s.Conversation())
	if err == nil {
		err = e.Apply(b.Context(), c)
	}
	if err != nil && !errors.Is(err, decant.ErrNothing) {
		b.Fatal(err)
	}
}

// invented asks about one host after the other until the model makes something up. It returns the answer, its receipt and the host.
func (b *bureau) invented(s *agent.Session) (answer int, r *Receipt, host int) {
	b.Helper()
	for host = 20; host < hosts; host += 17 {
		answer, _ := b.says(s, fmt.Sprintf("And on which port does host-%d listen?", host))
		if r := b.why(s, answer); strings.HasSuffix(r.Sentences[0].Text, fmt.Sprintf(" %d.", b.made)) {
			return answer, r, host
		}
	}
	b.Fatal("nothing was poured away")
	return 0, nil, 0
}

// The receipt of an answer names the bytes that were sent for it. Of one that was made up after a pour it says that nothing which was
// sent says this, and where it stood. Neither changes by anything that happens later.
func TestReceiptsStay(t *testing.T) {
	b := newBureau(t)
	s := b.agent.Session("")
	b.says(s, "Read the hosts.")
	right, pours := b.says(s, "On which port does host-250 listen?")
	if pours != 0 {
		t.Fatal("there was a pour already")
	}
	before := b.why(s, right)
	port := fmt.Sprint(b.ports[250])
	one := before.Sentences[0]
	if one.Verdict != "sent" || len(one.Sources) == 0 || len(one.Missing)+len(one.Unsent) > 0 {
		t.Fatalf("%+v", one)
	}
	src := one.Sources[0]
	if src.Form != "verbatim" || src.Place == nil || src.Place.Message != 3 || src.Place.Tool != "read" || src.Quote != "host-250 listens on port "+port {
		t.Errorf("the source is %+v at %+v", src, src.Place)
	}
	for i := 0; pours < 2; i++ {
		if i > 40 {
			t.Fatalf("%d pours", pours)
		}
		_, n := b.says(s, fmt.Sprintf("Read book %d.", i))
		pours += n
	}
	wrong, after, lost := b.invented(s)
	one = after.Sentences[0]
	if one.Verdict == "sent" || one.Missing[len(one.Missing)-1] != "98765" {
		t.Fatalf("what was made up: %+v", one)
	}
	if len(one.Sources) > 0 && !strings.Contains(one.Sources[0].Quote, fmt.Sprintf("host-%d", lost)) {
		t.Errorf("a source is %+v", one.Sources[0])
	}
	var there *Source
	for i := range one.Unsent {
		if strings.Contains(one.Unsent[i].Quote, fmt.Sprintf("host-%d listens on port %d", lost, b.ports[lost])) {
			there = &one.Unsent[i]
		}
	}
	if there == nil || there.Form != "left" || there.Place.Message != 3 || there.Pour != 1 || !strings.Contains(there.Where(), "m3, result of read, but poured away in pour 1") {
		t.Fatalf("where it stood: %+v of %+v", there, one.Unsent)
	}
	same := func(what string, s *agent.Session) {
		t.Helper()
		for answer, want := range map[int]*Receipt{right: before, wrong: after} {
			if d := cmp.Diff(want, b.why(s, answer)); d != "" {
				t.Errorf("%s, the receipt of m%d has changed (-was +is):\n%s", what, answer+1, d)
			}
		}
	}
	b.undo(s)
	b.says(s, "Thanks.")
	same("after an undo", s)
	f, err := s.Fork("")
	if err != nil {
		t.Fatal(err)
	}
	b.says(f, "Read book 99.")
	same("in a fork", f)
	turns := s.Turns()
	if err := s.Rewind(turns[len(turns)-1].First); err != nil {
		t.Fatal(err)
	}
	b.says(s, "Read another book.")
	same("after a rewind", s)
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	b.open()
	again, err := b.agent.Open(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	same("after a restart", again)
}
