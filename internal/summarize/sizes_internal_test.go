package summarize

import (
	"slices"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
)

// usual are the sizes of a preset that says nothing of them.
var usual = sizes(preset.Chunk{}.Settled())

// The figures are those that the field has settled on; a change of one of them is a change of behaviour.
func TestConstants(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"margin", usual.Margin, 1.2}, {"overhead", float64(usual.Overhead), 4096}, {"maxAnswer", maxAnswer, 4096},
		{"share", usual.Ratio, 0.4}, {"least share", usual.Least, 0.15}, {"smallShare", smallShare, 0.1}, {"hugeShare", hugeShare, 0.5},
		{"leastSplit", leastSplit, 4}, {"fewest", fewest, 2}, {"mostParts", mostParts, 12},
		{"maxQuoted", maxQuoted, 100_000}, {"headQuoted", headQuoted, 500}, {"tailQuoted", tailQuoted, 200},
		{"maxWish", maxWish, 4000}, {"maxCorrect", maxCorrect, 3400},
		{"foreground", preset.Timeout{}.Settled().Foreground.Seconds(), 20}, {"background", preset.Timeout{}.Settled().Background.Seconds(), 180},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestPartShare(t *testing.T) {
	for _, c := range []struct {
		name                     string
		tokens, messages, window int
		want                     float64
	}{
		{"Empty", 0, 0, 200_000, .40},
		{"SmallMessages", 100_000, 100, 200_000, .40},                    // a = 0.006
		{"ExactlySmall", 10_000, 1, 120_000, .40},                        // a = 0.10
		{"JustAbove", 110_000, 10, 120_000, .40 - .22},                   // a = 0.11
		{"TwelvePercent", 20_000, 1, 200_000, .40 - .24},                 // a = 0.12
		{"LargeMessages", 1_000_000, 10, 200_000, .15},                   // a = 0.6
		{"NoWindow", 1000, 10, 0, .40},                                   // nothing is known
		{"AtTheBound", 125_000, 6, 200_000, max(.15, .40-min(.25, .25))}, // a = 0.125
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := usual.share(c.tokens, c.messages, c.window); got < c.want-1e-9 || got > c.want+1e-9 {
				t.Errorf("share %v, want %v", got, c.want)
			}
		})
	}
}

func TestPartBudget(t *testing.T) {
	for _, c := range []struct {
		window int
		share  float64
		want   int
	}{
		{200_000, .40, 63_253},    // (80,000 - 4,096) / 1.2
		{200_000, .15, 21_586},    // (30,000 - 4,096) / 1.2
		{1_000_000, .40, 329_920}, // (400,000 - 4,096) / 1.2
		{8_192, .40, 1},           // nothing is left beside the overhead
		{16_000, .40, 1_920},      // (6,400 - 4,096) / 1.2
	} {
		if got := usual.budget(c.window, c.share); got != c.want {
			t.Errorf("window %d, share %v: budget %d, want %d", c.window, c.share, got, c.want)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		input, output, window int
		want                  bool
	}{
		{159_840, 4096, 200_000, true},  // 191,808 + 8,192 = 200,000
		{159_841, 4096, 200_000, false}, // one more
		{0, 4096, 8192, true},
		{0, 4097, 8192, false},
	} {
		if got := usual.fits(c.input, c.output, c.window); got != c.want {
			t.Errorf("%d + %d in %d: %v", c.input, c.output, c.window, got)
		}
	}
}

// What was sent and taken fits: only what is new is counted with a margin.
func TestFollows(t *testing.T) {
	for _, c := range []struct {
		sent, fresh, output int
		want                bool
	}{{180_000, 5000, 14_000, true}, {180_000, 5000, 14_001, false}, {190_000, 5000, 4096, false}} {
		if got := usual.follows(c.sent, c.fresh, c.output, 200_000); got != c.want {
			t.Errorf("%d and %d more: %v", c.sent, c.fresh, got)
		}
	}
}

func TestHuge(t *testing.T) {
	for _, c := range []struct {
		tokens int
		want   bool
	}{{83_333, false}, {83_334, true}} { // x 1.2 = 100,000.8, over half of 200,000
		if got := usual.huge(c.tokens, 200_000); got != c.want {
			t.Errorf("%d tokens: %v", c.tokens, got)
		}
	}
}

func TestAnswerRoom(t *testing.T) {
	for _, c := range []struct{ room, most, want int }{{10_000, 0, 4096}, {1000, 0, 1500}, {10, 0, 256}, {10_000, 2000, 2000}, {4000, 8192, 4096}} {
		if got := answerRoom(c.room, c.most); got != c.want {
			t.Errorf("room %d of a model's %d: %d, want %d", c.room, c.most, got, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name   string
		sizes  []int
		budget int
		want   []int
	}{
		{"TwoAtLeast", []int{10, 10, 10, 10}, 1000, []int{2}},
		{"ByShare", []int{10, 10, 10, 10, 10, 10}, 20, []int{2, 4}},
		{"LargeStaysWhole", []int{10, 100, 10}, 20, []int{1, 2}},
		{"LargeFirst", []int{100, 10, 10, 10, 10}, 60, []int{1}},
		{"NoneOverBudget", []int{30, 5, 30, 5, 30, 5}, 40, []int{2, 4}},
		{"One", []int{100}, 10, nil},
		{"None", nil, 10, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := split(c.sizes, c.budget); !slices.Equal(got, c.want) {
				t.Errorf("cuts %v, want %v", got, c.want)
			}
		})
	}
}

// Every preview is 500 characters of the beginning and 200 of the end, and what people said is never cut.
func TestPreviews(t *testing.T) {
	long := make([]rune, 2000)
	for i := range long {
		long[i] = rune('a' + i%26)
	}
	got := preview(string(long), headQuoted, tailQuoted)
	want := string(long[:500]) + "\n[1300 characters left out]\n" + string(long[1800:])
	if got != want {
		t.Errorf("preview %q", got)
	}
	if preview(got, headQuoted, tailQuoted) != got {
		t.Error("a preview of a preview is another text")
	}
}

// Results and arguments have 100,000 characters together; those in the middle give way, and nothing that was said does.
func TestTheCapCountsPreviewsOnly(t *testing.T) {
	body := repeat("r", 700)
	var ms []decant.Message
	for i := range 400 {
		ms = append(ms,
			message(3*i+1, decant.RoleUser, decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text(repeat("u", 1000))}),
			message(3*i+2, decant.RoleAssistant, decant.Block{Kind: decant.KindUse, Author: decant.AuthorModel, CallID: "c", Name: "Bash", Content: decant.Text("{}")}),
			message(3*i+3, decant.RoleUser, decant.Block{Kind: decant.KindResult, Author: decant.AuthorTool, CallID: "c", Name: "Bash", Content: decant.Text(body)}))
	}
	quoted, said, whole := 0, 0, 0
	es := entries(ms, preset.Summary{})
	for _, e := range es {
		for _, p := range e.parts {
			switch {
			case p.said:
				said += len(p.body)
			case p.body == body:
				whole++
				quoted += len(p.body)
			}
		}
	}
	if said != 400*1000 {
		t.Errorf("%d characters of the user, want all", said)
	}
	if quoted > maxQuoted || quoted < maxQuoted*9/10 {
		t.Errorf("%d characters of results, want about %d", quoted, maxQuoted)
	}
	if first, last := es[2].parts[0].body, es[len(es)-1].parts[0].body; first != body || last != body {
		t.Error("the first and the last result are not whole")
	}
	if whole == 400 {
		t.Error("nothing was left out")
	}
}

func message(n int, role decant.Role, bs ...decant.Block) decant.Message {
	return decant.Message{Number: n, Role: role, Blocks: bs}
}

func repeat(s string, n int) string {
	out := make([]byte, 0, n*len(s))
	for range n {
		out = append(out, s...)
	}
	return string(out)
}
