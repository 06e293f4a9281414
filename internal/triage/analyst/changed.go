package analyst

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/provider/sandbox"
)

// changed is a line that a commit has put in the place of another one, where it is now.
type changed struct {
	was, is string
	sha     string
	at      quote
}

// replaced calls do with the lines that commits have put in the place of others that are like them, until do returns false.
func (k *known) replaced(like func(was, is string) bool, do func(changed) bool) {
	for _, c := range k.diffs {
		for _, was := range slices.Sorted(maps.Keys(c.removed)) {
			for _, is := range slices.Sorted(maps.Keys(c.added)) {
				if was == is || !like(was, is) {
					continue
				}
				if at := k.stands(is); at != nil && !do(changed{was, is, c.sha, *at}) {
					return
				}
			}
		}
	}
}

// unseen returns the call that shows a line which a commit has put in the place of one that is like it, where it was not shown but as a change.
func (k *known) unseen() []sandbox.Block {
	for _, c := range k.diffs {
		for _, is := range slices.Sorted(maps.Keys(c.added)) {
			for was := range c.removed {
				if n := c.at[is]; c.path != "" && n > 0 && k.stands(is) == nil && (timeouts.MatchString(k.message+k.class) && alike(was, is) || swappedWords(was, is)) {
					return k.call(readFile, map[string]any{"path": c.path, "from": max(1, n-5), "to": n + 5})
				}
			}
		}
	}
	return nil
}

// stands returns where a line was shown, nil where it was not.
func (k *known) stands(text string) *quote {
	for _, f := range k.files {
		for _, n := range f.numbers() {
			if strings.TrimSpace(f.lines[n]) == text {
				return &quote{file: f, line: n}
			}
		}
	}
	return nil
}

// slower returns the answer to a timeout whose limit somebody has lowered, nil where nobody has.
func (k *known) slower() (a *answer) {
	if !timeouts.MatchString(k.message + k.class) {
		return nil
	}
	k.replaced(alike, func(c changed) bool {
		c.at.says = "the limit as it is now"
		a = &answer{State: "root_cause", Cause: fmt.Sprintf("The limit was changed from %q to %q, and what is waited for takes longer.", c.was, c.is), Confidence: "medium",
			Evidence: []evidence{c.at.evidence()}, Suspect: &suspect{c.sha, "it has changed the limit"}, Fix: "take the change of the limit back, or find out why it takes longer", Tags: []string{"timeout"}}
		return false
	})
	return a
}

// amount is a number with a unit of time, where one stands behind it.
var amount = lazyregexp.New(`(\d+(?:\.\d+)?)((?:\s*\*\s*time\.\w+|ms|s|m)?)`)

// units are how many seconds a unit of time has.
var units = map[string]float64{"": 1, "time.Nanosecond": 1e-9, "time.Microsecond": 1e-6, "time.Millisecond": 1e-3, "time.Second": 1, "time.Minute": 60, "time.Hour": 3600, "ms": 1e-3, "s": 1, "m": 60}

// alike reports whether two lines that set a limit are the same but for the limit: a number that has become less, or where it comes from.
func alike(was, is string) bool {
	if amount.ReplaceAllString(was, "#") == amount.ReplaceAllString(is, "#") {
		before, after := amount.FindAllStringSubmatch(was, -1), amount.FindAllStringSubmatch(is, -1)
		for i := range before {
			if seconds(after[i]) < seconds(before[i]) {
				return true
			}
		}
		return false
	}
	before, after, ok := strings.Cut(is, "(")
	return ok && after != "" && strings.HasPrefix(was, before+"(") && limit.MatchString(before)
}

// seconds returns an amount in seconds.
func seconds(m []string) float64 {
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0
	}
	return n * units[strings.TrimSpace(strings.TrimLeft(m[2], " *"))]
}

// reordered returns the answer to an error behind which somebody has put the words of a line into another order, nil where nobody has.
func (k *known) reordered() (a *answer) {
	k.replaced(swappedWords, func(c changed) bool {
		c.at.says = "the order as it is now"
		a = &answer{State: "root_cause", Cause: fmt.Sprintf("The order was changed from %q to %q, and not where else it counts.", c.was, c.is), Confidence: "medium",
			Evidence: []evidence{c.at.evidence()}, Suspect: &suspect{c.sha, "it has changed the order"}, Fix: "take the change of the order back", Tags: []string{"swapped-arguments"}}
		return false
	})
	return a
}

// swappedWords reports whether two lines with several arguments have the same words in another order.
func swappedWords(was, is string) bool {
	x, y := ident.FindAllString(was, -1), ident.FindAllString(is, -1)
	slices.Sort(x)
	slices.Sort(y)
	return was != is && len(x) > 2 && slices.Equal(x, y) && strings.Contains(is, ",") && len(was) == len(is)
}
