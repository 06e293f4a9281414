package replay

import (
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/ruler"
	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/token"
)

// played returns the only conversation of a session in the repository, and the stage for it.
func played(t *testing.T, name string, o *Options) *stage {
	t.Helper()
	c := recorded.Session(t, name).Conversation
	models, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	o.Catalog = models
	find := o.models(c)
	seg := newSegment(c, o, find)
	return &stage{seg: seg, window: o.Window, lay: newLayout(token.For(find("")), seg)}
}

// textOf returns what messages say, thinking left out.
func textOf(ms []decant.Message) string {
	var out []string
	for i := range ms {
		for k := range ms[i].Blocks {
			out = append(out, said(&ms[i].Blocks[k]))
		}
	}
	return strings.Join(out, "\n")
}

// The judge remembers where every string stands; it must say what the ruler says of the two whole texts.
func TestTheJudgeIsTheRuler(t *testing.T) {
	kept, grounded, gold := 0, 0, 0
	for file, names := range map[string][]string{
		recorded.Claude: {"trim-500", "keep-last-3", "default:high", "chat"}, recorded.Codex: {"trim-500", "keep-last-3"},
	} {
		for _, name := range names {
			s := played(t, file, &Options{Window: 50_000, Fixed: 1000})
			policy, err := Parse(name, "")
			if err != nil {
				t.Fatal(err)
			}
			j, p := newJudge(s.seg), policy.start(s)
			for q := range s.seg.requests {
				step, err := p.view(q)
				if err != nil {
					t.Fatal(err)
				}
				if q%6 != 5 {
					continue
				}
				got, want := j.judge(q, step.messages), slowly(s.seg, q, step.messages)
				if got.anywhere < got.grounded || got.anywhere > got.kept {
					t.Fatalf("%s through %s, request %d: %+v", file, name, q+1, got)
				}
				want.anywhere = got.anywhere // the ruler knows nothing of it
				if got != want {
					t.Fatalf("%s through %s, request %d: %+v, the ruler says %+v", file, name, q+1, got, want)
				}
				gold, kept, grounded = gold+got.gold, kept+got.kept, grounded+got.grounded
			}
		}
	}
	if kept == gold || grounded == kept || gold < 100 {
		t.Errorf("%d of %d kept, %d grounded: nothing is proved", kept, gold, grounded)
	}
}

// slowly judges a view by the ruler alone.
func slowly(s *segment, q int, view []decant.Message) (v verdict) {
	names := map[string]bool{}
	for i := range s.conv.Messages {
		for k := range s.conv.Messages[i].Blocks {
			if b := &s.conv.Messages[i].Blocks[k]; b.Kind == decant.KindUse {
				names[b.Name] = true
				ruler.Names(b.Text(), func(n string) { names[n] = true })
			}
		}
	}
	n := s.requests[q].messages
	before, now := textOf(s.conv.Messages[:n]), textOf(view)
	had, has := ruler.Atoms(before), ruler.Atoms(now)
	answer := s.conv.Messages[n]
	answer.Blocks = slices.DeleteFunc(slices.Clone(answer.Blocks), func(b decant.Block) bool { return b.Kind != decant.KindText && b.Kind != decant.KindUse })
	for a := range ruler.Atoms(textOf([]decant.Message{answer})) {
		kind, ok := had[a]
		if !ok || names[a] {
			continue
		}
		v.gold++
		if !ruler.Holds(now, has, a, kind) {
			continue
		}
		v.kept++
		if ruler.Grounded(ruler.Contexts(before, a, ruler.Most), ruler.Contexts(now, a, ruler.Most)) {
			v.grounded++
		}
	}
	return v
}
