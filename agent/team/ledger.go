package team

import (
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// A Delegation is one line of the ledger.
type Delegation struct {
	ID         string // of the delegate's session; empty: the call had no result of its own
	To         string // name of the member
	Task       string
	Outcome    string // agent.Stop of its run; of a call without a result of its own, what the coordinator was told
	Turns      int
	Tokens     int
	USD        float64
	Snapshot   string // hash of what the coordinator was sent when it delegated; in the ledger its first 12 digits
	Projection string // of what the delegate was sent of it, empty where nothing was; the same hash unless it had to be poured
}

// short is how many digits of a hash people and models are shown.
const short = 12

// line returns a delegation as the first line of its result.
func (d *Delegation) line() string {
	out := fmt.Sprintf("delegation %s to %s: %s; %d turns, %d tokens, $%.4f; snapshot %.*s", d.ID, d.To, d.Outcome, d.Turns, d.Tokens, d.USD, short, d.Snapshot)
	switch d.Projection {
	case d.Snapshot:
	case "":
		out += ", of which nothing was sent"
	default:
		out += fmt.Sprintf(", projection %.*s", short, d.Projection)
	}
	return out
}

// lines are what line returns.
var lines = regexp.MustCompile(`^delegation (\S+) to (\S+): (\w+); (\d+) turns, (\d+) tokens, \$([\d.]+); snapshot (\w+)(?:, projection (\w+)|(, of which nothing was sent))?(?:\n|$)`)

// Ledger returns the delegations of a session, oldest first, by what was said in it (Session.Messages). Those whose calls have no
// result yet are not among them. What a model or a delegate writes cannot add a line or change one.
func Ledger(messages []stdjson.RawMessage) (out []Delegation) {
	open := map[string]order{}
	for _, m := range messages {
		for _, b := range blocksOf(m) {
			switch {
			case b.Type == "tool_use" && b.Name == DelegateTool:
				var o order
				_ = json.Unmarshal(b.Input, &o, lenient) // what does not fit is a call that failed: its result says so
				open[b.ID] = o
			case b.Type == "tool_result":
				if o, ok := open[b.Use]; ok {
					out = append(out, delegationOf(o, b.text()))
					delete(open, b.Use)
				}
			}
		}
	}
	return out
}

// delegationOf returns the line that an order and its result make.
func delegationOf(o order, result string) Delegation {
	d := Delegation{To: o.To, Task: o.Task}
	f := lines.FindStringSubmatch(result)
	if f == nil {
		d.Outcome, _, _ = strings.Cut(cut(result, 120), "\n")
		return d
	}
	d.ID, d.To, d.Outcome, d.Snapshot, d.Projection = f[1], f[2], f[3], f[7], f[8]
	d.Turns, _ = strconv.Atoi(f[4]) // the expression takes nothing else
	d.Tokens, _ = strconv.Atoi(f[5])
	d.USD, _ = strconv.ParseFloat(f[6], 64)
	if d.Projection == "" && f[9] == "" {
		d.Projection = d.Snapshot
	}
	return d
}

const (
	mostListed = 20  // delegations that a model is reminded of
	mostTask   = 120 // characters of a task in a list
)

// entry returns a delegation as a line of a list.
func (d *Delegation) entry() string {
	task := strings.Join(strings.Fields(cut(d.Task, mostTask)), " ")
	if d.ID == "" {
		return fmt.Sprintf("- to %s: %s [%s]", d.To, d.Outcome, task)
	}
	return "- " + d.line() + " [" + task + "]"
}

// listed returns what a model is told of its delegations after a pour, empty where there were none.
func listed(all []Delegation) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Your delegations so far, because older messages have left your view. \"" + delegationName + "\" with an id reads an answer")
	if skip := len(all) - mostListed; skip > 0 {
		fmt.Fprintf(&b, ", and without one lists all, %d older ones among them", skip)
		all = all[skip:]
	}
	b.WriteString(":")
	for i := range all {
		b.WriteString("\n" + all[i].entry())
	}
	return b.String()
}

// cut returns the first n characters of a text.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "..."
}
