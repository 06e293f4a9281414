package whatif

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/humanize"
)

// mostCell is how many characters of a value a column shows.
const mostCell = 60

// Write writes the comparison as a table, and the two answers behind it.
func (c *Comparison) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "turn %d: %s\n", c.Turn, clip(c.Text, 100))
	table := tabwriter.NewWriter(&b, 0, 8, 3, ' ', 0)
	row := func(name string, of func(*Arm) string) {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", name, clip(of(&c.Was), mostCell), clip(of(&c.Would), mostCell))
	}
	fmt.Fprintf(table, "  \tas it was\twhat if\n")
	row("model", func(a *Arm) string { return a.Model })
	row("preset", func(a *Arm) string { return cmp.Or(a.Preset, "of the engine") })
	row("memory", func(a *Arm) string { return map[bool]string{true: "on", false: "off"}[a.Memory] })
	row("tokens read", (*Arm).read)
	row("tokens answered", func(a *Arm) string { return a.known(humanize.Thousands(a.Spent.Usage.Output)) })
	row("dollars", func(a *Arm) string { return a.known(fmt.Sprintf("%.4f", a.Spent.Money.USD())) })
	row("seconds", func(a *Arm) string { return a.known(fmt.Sprintf("%.1f", a.Took.Round(100*time.Millisecond).Seconds())) })
	row("facts sent", func(a *Arm) string {
		if !a.Sent.Known {
			return "not known"
		}
		return fmt.Sprintf("%d of %d", a.Sent.Held, a.Sent.Facts)
	})
	row("used and not sent", func(a *Arm) string { return cmp.Or(strings.Join(a.Sent.Missing, ", "), "-") })
	table.Flush() // into a string: it cannot fail
	fmt.Fprintf(&b, "as it was: %s\n", cmp.Or(c.Was.Answer, "(no answer)"))
	fmt.Fprintf(&b, "what if: %s\n", cmp.Or(c.Would.Answer, "(no answer)"))
	for i := range c.Would.Would {
		fmt.Fprintf(&b, "  it would have called %s %s\n", c.Would.Would[i].Tool, clip(string(c.Would.Would[i].Arguments), 100))
	}
	if c.Would.Stop != agent.StopAnswered && c.Would.Stop != agent.StopApproval {
		fmt.Fprintf(&b, "  it ended at a limit: %s\n", c.Would.Stop)
	}
	c.Would.calls(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// read says how many tokens were read, and how many of them came from the cache.
func (a *Arm) read() string {
	u := a.Spent.Usage
	return a.known(fmt.Sprintf("%s (%s from the cache)", humanize.Thousands(u.Prompt()), humanize.Thousands(u.CacheRead)))
}

// known returns a figure of what was used, if that is known.
func (a *Arm) known(text string) string {
	if a.Spent.Turns == 0 {
		return "not known"
	}
	return text
}

// calls says what the calls of the new turn have returned.
func (a *Arm) calls(b *strings.Builder) {
	for _, c := range a.Recorded {
		fmt.Fprintf(b, "  returned what it did then: %s\n", clip(c, 100))
	}
	for _, c := range a.Made {
		fmt.Fprintf(b, "  called now, not then: %s\n", clip(c, 100))
	}
}

// clip returns a text on one line of at most n characters.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
