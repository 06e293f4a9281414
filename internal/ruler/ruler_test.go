package ruler_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/ruler"
	"github.com/decantdev/decant/testing/recorded"
)

// A golden is one case that the other ruler has answered; testdata/README.md says what is in it.
type golden struct {
	Text  *string
	Call  bool
	Atoms map[string]string

	Session string
	Names   []string

	Old, New       string
	Gold           map[string]string
	Kept, Grounded []string

	Arguments *string
	Values    string
}

func goldens(t *testing.T) (out []golden) {
	t.Helper()
	f, err := os.Open("testdata/golden.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var g golden
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	if len(out) < 200 {
		t.Fatalf("%d cases: nothing is proved", len(out))
	}
	return out
}

// The ruler in Go gives the answers of the ruler in Python, letter by letter.
func TestAgreesWithTheOtherRuler(t *testing.T) {
	for i, g := range goldens(t) {
		switch {
		case g.Text != nil:
			text := *g.Text
			if g.Call {
				text = ruler.Values(text)
			}
			if diff := cmp.Diff(g.Atoms, named(ruler.Atoms(text))); diff != "" {
				t.Errorf("case %d, atoms of %.60q (-want +got):\n%s", i, text, diff)
			}
		case g.Session != "":
			if diff := cmp.Diff(g.Names, names(t, g.Session)); diff != "" {
				t.Errorf("names of %s (-want +got):\n%s", g.Session, diff)
			}
		case g.Arguments != nil:
			if got := ruler.Values(*g.Arguments); got != g.Values {
				t.Errorf("values of %s: %q, want %q", *g.Arguments, got, g.Values)
			}
		default:
			recalled(t, &g)
		}
	}
}

// recalled compares what a text still holds of another.
func recalled(t *testing.T, g *golden) {
	t.Helper()
	kept, grounded := []string{}, []string{}
	now := ruler.Atoms(g.New)
	before := ruler.Atoms(g.Old)
	for _, atom := range slices.Sorted(maps.Keys(g.Gold)) {
		if !ruler.Holds(g.New, now, atom, before[atom]) {
			continue
		}
		kept = append(kept, atom)
		if ruler.Grounded(ruler.Contexts(g.Old, atom, ruler.Most), ruler.Contexts(g.New, atom, ruler.Most)) {
			grounded = append(grounded, atom)
		}
	}
	byName := cmp.Transformer("sorted", func(s []string) []string { return slices.Sorted(slices.Values(s)) })
	if diff := cmp.Diff(g.Kept, kept, byName); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(g.Grounded, grounded, byName); diff != "" {
		t.Errorf("grounded (-want +got):\n%s", diff)
	}
	if len(grounded) == 0 || len(grounded) == len(kept) {
		t.Errorf("%d of %d are grounded: nothing is proved", len(grounded), len(kept))
	}
}

func named(atoms map[string]ruler.Kind) map[string]string {
	out := map[string]string{}
	for a, k := range atoms {
		out[a] = k.String()
	}
	return out
}

// names returns the names of tools and parameters in a session of the repository.
func names(t *testing.T, session string) []string {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range recorded.Session(t, session).Conversation.Messages {
		for _, b := range m.Blocks {
			if b.Kind == decant.KindUse {
				seen[b.Name] = true
				ruler.Names(b.Text(), func(n string) { seen[n] = true })
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Names joined by dots are read once, however many there are: with a look at the rest of the text for each
// of them this would not end.
func TestLongChainOfNames(t *testing.T) {
	found := 0
	count := func(string, ruler.Kind) { found++ }
	ruler.Each(strings.Repeat("a.", 1<<20), count)
	if found > 0 {
		t.Errorf("%d names in single letters, want none", found)
	}
	ruler.Each(strings.Repeat("a.", 100)+"bb and x.y", count)
	if found != 1 {
		t.Errorf("%d names, want one", found)
	}
}

func TestBadArgumentsAreText(t *testing.T) {
	deep := strings.Repeat("[", 5_000_000)
	for _, text := range []string{"", "make", `{"a":`, `{"a":1}}`, "{1:2}", deep} {
		if got := ruler.Values(text); got != text {
			t.Errorf("values of %.20q are %.20q", text, got)
		}
		ruler.Names(text, func(n string) { t.Errorf("%.20q has a parameter %q", text, n) })
	}
}

func TestGrounded(t *testing.T) {
	const line = "the server reads from pkg/conf/main.go when asked twice"
	tests := []struct {
		name, before, now string
		want              bool
	}{
		{"TheLineItself", line, line, true},
		{"FourWords", line, "server reads pkg/conf/main.go when asked", true},
		{"ThreeWordsAreTooFew", line, "server reads pkg/conf/main.go when", false},
		{"AllOfFewer", "see pkg/conf/main.go there", "there is pkg/conf/main.go", true},
		{"NoneToShare", "pkg/conf/main.go", "pkg/conf/main.go", true},
		{"OtherLine", line, "the server reads from it when asked twice\npkg/conf/main.go", false},
		{"NeverThere", "", line, false},
		{"Gone", line, "the server reads from it when asked twice", false},
		{"PartsOfNamesAreNoWords", line, "pkg/server/reads-from/pkg/conf/main.go_when.asked", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const atom = "pkg/conf/main.go"
			got := ruler.Grounded(ruler.Contexts(tt.before, atom, ruler.Most), ruler.Contexts(tt.now, atom, ruler.Most))
			if got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func FuzzAtoms(f *testing.F) {
	for _, s := range []string{"a/b.go --flag v1.2", "~/x ..../y #12 http://a.bcd", "端口 18080 fooBar.baz_q",
		"\xff--a\xffbcd/\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for a := range ruler.Atoms(text) {
			if !strings.Contains(text, a) {
				t.Errorf("%q is not in %q", a, text)
			}
			if len(ruler.Contexts(text, a, 1)) != 1 {
				t.Errorf("%q has no context in %q", a, text)
			}
		}
		ruler.Values(text)
	})
}

func BenchmarkAtoms(b *testing.B) {
	text := strings.Repeat("func (s *Server) handle(w http.ResponseWriter) error { return s.store.Put(ctx, key_of(w), 18080) } // see pkg/server/main.go, --retries\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ruler.Each(text, func(string, ruler.Kind) {})
	}
}
