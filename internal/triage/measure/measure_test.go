package measure_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/testdepth"
	"github.com/decantdev/decant/internal/triage/analyst"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/layer"
	"github.com/decantdev/decant/internal/triage/measure"
	"github.com/decantdev/decant/internal/triage/report"
	"github.com/decantdev/decant/internal/triage/sample"
	"github.com/decantdev/decant/token"
)

// shop returns the bundled sample.
func shop(t *testing.T) *world {
	t.Helper()
	s, err := sample.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{now: s.Now, services: s.Services()}
	if w.repos, err = s.Repos(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if w.events, err = s.Events(); err != nil {
		t.Fatal(err)
	}
	return w
}

// measured measures the layers on a world.
func measured(t *testing.T, w *world, layers ...layer.Layer) *measure.Table {
	t.Helper()
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	model, _ := catalog.Lookup(modelID)
	table, err := measure.Run(t.Context(), measure.Options{Model: model, At: w.now, Layers: layers, Play: func(_ context.Context, a measure.Arm) ([]*report.Report, error) {
		return []*report.Report{w.investigated(t, a.Off, a.Thinking)}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := table.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
	return table
}

// With the layers on at most half of the tokens are billed, and as much is found. What each brings, alone and on top of
// the others, and what is left between them, adds up.
func TestLayersHalveTheSample(t *testing.T) {
	table := measured(t, shop(t), testdepth.Of([]layer.Layer{layer.CodeCache}, nil)...)
	off, on := &table.Off, &table.On
	if s := 1 - float64(on.Billed)/float64(off.Billed); s < .5 || on.USD > .5*off.USD {
		t.Errorf("%.0f%% of the billed tokens are saved: %d of %d; $%.4f of $%.4f", 100*s, off.Billed-on.Billed, off.Billed, on.USD, off.USD)
	}
	if off.Errors != 12 || on.Errors != 12 || off.Found < 9 || on.Found < off.Found || on.Same != 12 || off.Sent != off.Billed {
		t.Errorf("off %+v, on %+v", off, on)
	}
	if hits := on.Code.Rate(); hits < .3 || off.Code.Hits != 0 || on.Code.Misses*10 > off.Code.Misses*7 {
		t.Errorf("the code cache had %.0f%%: %+v, without it %+v", 100*hits, on.Code, off.Code)
	}
	if table.Fading.Work.Thinking >= table.Steady.Work.Thinking || on.Work.Thinking != 0 {
		t.Errorf("%d tokens of thinking, %d where they fade", table.Steady.Work.Thinking, table.Fading.Work.Thinking)
	}
}

// The same errors in files as long as those of grown programs, read by somebody who reads files whole: there, old results are cleared, results are cut and
// answers are forced. Without layers it is the same reader in the same files.
func TestLayersInLongFiles(t *testing.T) {
	testdepth.NeedFull(t, "what each layer saves where files are long")
	w := grown(t, shop(t))
	w.analyst, w.budget = analyst.Analyst{Thorough: true}, 100_000
	table := measured(t, w)
	off, on := &table.Off, &table.On
	if s := 1 - float64(on.Billed)/float64(off.Billed); s < .5 {
		t.Errorf("%.0f%% of the billed tokens are saved", 100*s)
	}
	if on.Found < off.Found || off.Found < 6 {
		t.Errorf("%d are explained, %d without layers", on.Found, off.Found)
	}
	for i := range table.Layers {
		if r := &table.Layers[i]; r.Layer == "editing" && (r.Alone.Work.Edits == 0 || r.Alone.Work.Cleared == 0) {
			t.Errorf("nothing was cleared: %+v", r.Alone.Work)
		}
	}
}

// noise returns lines of real code, or of text, for a file: many before its first declaration, and as many at its end.
func noise(t *testing.T, name string) []string {
	t.Helper()
	var sources []string
	for _, dir := range []string{"../../../engine", "../../../policy", "../../../wire", "../../../agent", "../../../docs"} {
		more, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, more...)
	}
	goes := strings.HasSuffix(name, ".go")
	sources = slices.DeleteFunc(sources, func(s string) bool {
		return goes && (!strings.HasSuffix(s, ".go") || strings.HasSuffix(s, "_test.go")) || !goes && !strings.HasSuffix(s, ".md")
	})
	sum := uint32(0)
	for _, c := range name {
		sum = 31*sum + uint32(c)
	}
	var out []string
	for i := int(sum % uint32(len(sources))); len(out) < 900; i = (i + 1) % len(sources) {
		data, err := os.ReadFile(sources[i])
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if goes {
			_, text, _ = strings.Cut(text, "\nfunc ")
			text = "func " + text
		}
		for l := range strings.Lines(text) {
			if l = strings.TrimRight(l, "\n"); !goes {
				l = "# " + l
			}
			out = append(out, l)
		}
	}
	return out[:900]
}

// grown returns a world whose files are longer.
func grown(t *testing.T, w *world) *world {
	t.Helper()
	out := *w
	out.repos = slices.Clone(w.repos)
	for i := range out.repos {
		out.repos[i].Dir = regrown(t, w.repos[i])
	}
	out.events = nil
	for _, e := range w.events {
		e.Frames = slices.Clone(e.Frames)
		for i := range e.Frames {
			if f := &e.Frames[i]; f.InApp || strings.Contains(f.File, "acme/money") {
				f.Line += 450
			}
		}
		out.events = append(out.events, e)
	}
	return &out
}

// regrown returns a clone in which the files of each commit are longer.
func regrown(t *testing.T, r code.Repo) string {
	t.Helper()
	dir := t.TempDir()
	run := func(in string, args ...string) string {
		c := exec.Command("git", args...)
		c.Stdin = strings.NewReader(in)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		b, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, b)
		}
		return string(b)
	}
	run("", "init", "-q", "-b", "main", dir)
	var stream strings.Builder
	in := run("", "-C", r.Dir, "log", "--reverse", "--format=%H%x00%at%x00%s", "main")
	blob := func(name, text string) {
		fmt.Fprintf(&stream, "M 100644 inline %q\ndata %d\n%s\n", name, len(text), text)
	}
	for l := range strings.Lines(in) {
		p := strings.Split(strings.TrimSpace(l), "\x00")
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter Ada <ada@example.com> %s +0000\ndata %d\n%s\ndeleteall\n", p[1], len(p[2]), p[2])
		for name := range strings.FieldsSeq(run("", "-C", r.Dir, "ls-tree", "-r", "--name-only", p[0])) {
			text := run("", "-C", r.Dir, "show", p[0]+":"+name)
			if strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".py") {
				text = longer(text, noise(t, name))
			}
			blob(name, text)
		}
		for tag := range strings.FieldsSeq(run("", "-C", r.Dir, "tag", "--points-at", p[0])) {
			fmt.Fprintf(&stream, "reset refs/tags/%s\nfrom refs/heads/main\n", tag)
		}
	}
	run(stream.String(), "-C", dir, "fast-import", "--quiet")
	return dir
}

// longer returns a file with half of some lines in front of its first declaration, and half of them at its end.
func longer(text string, lines []string) string {
	all := strings.Split(text, "\n")
	at := slices.IndexFunc(all, func(l string) bool {
		return strings.HasPrefix(l, "func ") || strings.HasPrefix(l, "type ") || strings.HasPrefix(l, "def ") || strings.HasPrefix(l, "class ") || strings.HasPrefix(l, "var ") || strings.HasPrefix(l, "const ")
	})
	at = max(at, 0)
	half := len(lines) / 2
	return strings.Join(slices.Concat(all[:at], lines[:half], all[at:], lines[half:]), "\n")
}
