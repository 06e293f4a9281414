package summarize_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/summarize"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// small is a catalogue that knows a model with a window of so many tokens.
func small(t *testing.T, window int) *token.Catalog {
	t.Helper()
	c, err := catalog().Add(fmt.Appendf(nil, `{"models":[{"id":"small","provider":"anthropic","status":"active","context_window":%d,"max_output":4096,"supports":{}}]}`, window))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func smallWriter(t *testing.T, a owncalls.Asker, window int) *summarize.Summarizer {
	t.Helper()
	s, err := summarize.New(summarize.Options{Asker: a, Catalog: small(t, window), Model: summarize.Always("small")})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// long is a conversation of n turns: words of the user, a call, its result, an answer.
func long(n int) (ms []decant.Message) {
	for i := range n {
		k := 4*i + 1
		id := "c" + strconv.Itoa(i)
		ms = append(ms,
			user(k, fmt.Sprintf("Step %d: please rework pkg/step%d/file%d.go, and report the figures that you find in it. %s", i, i, i, strings.Repeat("The details of this step matter to the release. ", 12))),
			call(k+1, id, "Bash", fmt.Sprintf(`{"command":"go test ./pkg/step%d"}`, i)),
			result(k+2, id, "Bash", fmt.Sprintf("ok pkg/step%d coverage %d.5%%", i, i)),
			model(k+3, fmt.Sprintf("Step %d is done; pkg/step%d/file%d.go has the marker KEY_%d. %s", i, i, i, i, strings.Repeat("It went as it was planned. ", 12))))
	}
	return ms
}

var span = regexp.MustCompile(`The messages m(\d+) to m(\d+)(, which are part (\d+) of (\d+))?`)

// honest writes a record of the messages that a prompt holds: one line for each step.
func honest(r *provider.Request) string {
	if strings.HasPrefix(r.Prompt, "These records") {
		return record(firstNumbers(r.Prompt, 40))
	}
	m := span.FindStringSubmatch(r.Prompt)
	from, _ := strconv.Atoi(m[1])
	to, _ := strconv.Atoi(m[2])
	var steps []int
	for i := (from - 1) / 4; i <= (to-1)/4; i++ {
		steps = append(steps, i)
	}
	return record(steps)
}

func record(steps []int) string {
	var w strings.Builder
	w.WriteString("# Goal\n")
	for _, i := range steps {
		fmt.Fprintf(&w, "m%d The user wants pkg/step%d/file%d.go reworked.\n", 4*i+1, i, i)
	}
	w.WriteString("# Plan\n-\n# State\n")
	for _, i := range steps {
		fmt.Fprintf(&w, "m%d Step %d is done, with the marker KEY_%d.\n", 4*i+4, i, i)
	}
	return w.String() + "# Conclusions\n-\n# Decisions\n-\n# Open\n-\n"
}

func firstNumbers(prompt string, n int) (out []int) {
	for _, m := range regexp.MustCompile(`KEY_(\d+)`).FindAllStringSubmatch(prompt, -1) {
		i, _ := strconv.Atoi(m[1])
		if !slices.Contains(out, i) && len(out) < n {
			out = append(out, i)
		}
	}
	return out
}

func answers(f func(n int, r *provider.Request) (string, error)) *script {
	return &script{answer: func(ctx context.Context, n int, r *provider.Request) (*provider.Answer, error) {
		text, err := f(n, r)
		if err != nil {
			return nil, err
		}
		return &provider.Answer{Text: text, Stop: "end_turn", Usage: decant.Usage{Input: 1, Output: 1}}, nil
	}}
}

// What does not fit one call is asked for in parts of whole rounds, each of which fits.
func TestParts(t *testing.T) {
	ms := long(60)
	a := answers(func(_ int, r *provider.Request) (string, error) { return honest(r), nil })
	in := input(ms)
	in.MaxTokens = 6000
	out, err := smallWriter(t, a, 24_000).Summarize(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if out.Rung != decant.RungChunks || len(out.Gaps) != 0 || len(a.asked) < 3 {
		t.Errorf("rung %s, gaps %v, %d calls", out.Rung, out.Gaps, len(a.asked))
	}
	covered := map[int]bool{}
	for _, r := range a.asked {
		m := span.FindStringSubmatch(r.Prompt)
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[2])
		for n := from; n <= to; n++ {
			if covered[n] {
				t.Errorf("m%d is in two parts", n)
			}
			covered[n] = true
		}
		if from%4 == 3 || to%4 == 2 {
			t.Errorf("m%d to m%d splits a round", from, to)
		}
		model, _ := small(t, 24_000).Lookup("small")
		if n := token.For(model).Count(r.System + r.Prompt); float64(n)*1.2+float64(r.MaxTokens) > 24_000 {
			t.Errorf("a call of %d tokens does not fit", n)
		}
	}
	if len(covered) != len(ms) {
		t.Errorf("%d of %d messages were asked about", len(covered), len(ms))
	}
	for i := range 60 {
		if !strings.Contains(out.Text, fmt.Sprintf("KEY_%d.", i)) {
			t.Errorf("step %d is not in the record", i)
		}
	}
	if strings.Count(out.Text, "# Goal") != 1 {
		t.Errorf("sections are not joined:\n%s", out.Text)
	}
}

// Where the records of parts have no room together, a call merges them; and where that fails, too, the oldest lines give way.
func TestPartsAreMerged(t *testing.T) {
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprint("fails=", fails), func(t *testing.T) {
			merges := 0
			a := answers(func(_ int, r *provider.Request) (string, error) {
				if strings.HasPrefix(r.Prompt, "These records") {
					if merges++; fails {
						return "", errors.New("503")
					}
				}
				return honest(r), nil
			})
			in := input(long(60))
			in.MaxTokens = 2000
			out, err := smallWriter(t, a, 24_000).Summarize(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if n := in.Counter.Count(out.Text); n > 2000 || n < 800 || merges == 0 || out.Rung != decant.RungChunks {
				t.Errorf("%d tokens, %d merges, rung %s", n, merges, out.Rung)
			}
		})
	}
}

// A part that fails leaves its messages named.
func TestAPartThatFailsIsNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		text string
		why  string
	}{
		{"Error", owncalls.ErrResting, "", "the model could not be asked"},
		{"Refused", nil, "I'm sorry, I can't help with that.", "the model wrote nothing usable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := answers(func(_ int, r *provider.Request) (string, error) {
				if strings.Contains(r.Prompt, "which are part 2 of") {
					return c.text, c.err
				}
				return honest(r), nil
			})
			in := input(long(60))
			in.MaxTokens = 6000
			out, err := smallWriter(t, a, 24_000).Summarize(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if out.Rung != decant.RungPartial || len(out.Gaps) != 1 || out.Gaps[0].Why != c.why {
				t.Fatalf("rung %s, gaps %v", out.Rung, out.Gaps)
			}
			if g := out.Gaps[0]; g.From >= g.To || strings.Contains(out.Text, fmt.Sprintf("m%d ", g.From)) {
				t.Errorf("gap %+v in\n%s", g, out.Text)
			}
			if in.Counter.Count(out.Text) > in.MaxTokens {
				t.Error("it is too large")
			}
		})
	}
}

// Where all parts fail, that is the error; where the client leaves, it is that.
func TestNoPart(t *testing.T) {
	a := answers(func(int, *provider.Request) (string, error) { return "", owncalls.ErrResting })
	if _, err := smallWriter(t, a, 24_000).Summarize(t.Context(), input(long(60))); !errors.Is(err, owncalls.ErrResting) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	a = answers(func(_ int, r *provider.Request) (string, error) { cancel(); return honest(r), nil })
	if _, err := smallWriter(t, a, 24_000).Summarize(ctx, input(long(60))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Time that runs out loses the parts that are not there yet, and no others.
func TestTimeRunsOutBetweenParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &script{}
		a.answer = func(ctx context.Context, _ int, r *provider.Request) (*provider.Answer, error) {
			if !strings.Contains(r.Prompt, "which are part 1 of") {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return &provider.Answer{Text: honest(r), Stop: "end_turn"}, nil
		}
		in := input(long(60))
		in.MaxTokens = 6000
		start := time.Now()
		out, err := smallWriter(t, a, 24_000).Summarize(t.Context(), in)
		if err != nil || out.Rung != decant.RungPartial || !strings.Contains(out.Text, "KEY_0.") || time.Since(start) != 20*time.Second {
			t.Errorf("%v, rung %s after %v", err, out.Rung, time.Since(start))
		}
		for _, g := range out.Gaps {
			if g.Why != "there was no time left" {
				t.Errorf("gap %+v", g)
			}
		}
	})
}

// A message that takes half of the window is noted with its role and size and left out with its round; what the user typed
// in the round is not.
func TestAHugeMessageIsLeftOut(t *testing.T) {
	ms := long(4)
	ms[9] = decant.Message{Number: 10, Role: decant.RoleAssistant, Blocks: append(text(10, decant.RoleAssistant, decant.AuthorModel, strings.Repeat("word ", 14_000)).Blocks, ms[9].Blocks...)}
	ms[10].Blocks = append(ms[10].Blocks, user(11, "Mind the figure 4711 of the invoice.").Blocks...)
	a := answers(func(_ int, r *provider.Request) (string, error) { return honest(r), nil })
	out, err := smallWriter(t, a, 24_000).Summarize(t.Context(), input(ms))
	if err != nil {
		t.Fatal(err)
	}
	p := a.asked[0].Prompt
	if !regexp.MustCompile(`m10 a message of the assistant, about 1[0-9]K tokens, left out`).MatchString(p) || strings.Contains(p, "word word") || strings.Contains(p, "m11 result") {
		t.Error("the message is not noted, or its round is there")
	}
	if !strings.Contains(p, "m11 user says:\n  Mind the figure 4711 of the invoice.") {
		t.Error("the user's words are gone")
	}
	if len(out.Gaps) != 1 || out.Gaps[0].From != 10 || out.Gaps[0].To != 11 || out.Rung != decant.RungPartial {
		t.Errorf("rung %s, gaps %+v", out.Rung, out.Gaps)
	}
}

// A provider that says the prompt is too long is asked for parts; one that is busy is not.
func TestAnOverflowIsDivided(t *testing.T) {
	a := answers(func(n int, r *provider.Request) (string, error) {
		if n == 0 {
			return "", fmt.Errorf("%w: 400 prompt is too long: 210000 tokens > 200000 maximum", provider.ErrRefused)
		}
		return honest(r), nil
	})
	out, err := writer(t, a).Summarize(t.Context(), input(long(10)))
	if err != nil || out.Rung != decant.RungChunks || len(a.asked) != 3 {
		t.Errorf("%v, rung %s, %d calls", err, out.Rung, len(a.asked))
	}
	a = answers(func(int, *provider.Request) (string, error) { return "", errors.New("429 too many tokens per minute") })
	if _, err := writer(t, a).Summarize(t.Context(), input(long(10))); err == nil || len(a.asked) != 1 {
		t.Errorf("%v after %d calls", err, len(a.asked))
	}
}

// Fewer than four messages are not divided.
func TestTooFewToDivide(t *testing.T) {
	ms := []decant.Message{user(1, strings.Repeat("a word of the day, ", 1600)), model(2, strings.Repeat("a word of the day, ", 1600)), user(3, strings.Repeat("a word of the day, ", 1600))}
	a := says(good)
	if _, err := smallWriter(t, a, 24_000).Summarize(t.Context(), input(ms)); !errors.Is(err, summarize.ErrTooLarge) || !errors.Is(err, decant.ErrSummary) || len(a.asked) > 0 {
		t.Errorf("%v after %d calls", err, len(a.asked))
	}
}
