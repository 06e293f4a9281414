// Package group puts events together that are the same error, says which errors are news, and which ones matter most.
//
// All of it is computed from the events and from what is known of earlier ones (Known), by rules that are written down here: nothing is asked of
// a model.
package group

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// By says what makes events the same error.
type By string

// The ways to group.
const (
	ByFingerprint By = "fingerprint" // class, what the message says without its values, and where in the program's own code
	ByTransaction By = "transaction" // class and transaction
)

// A Group is an error: the events that are the same.
type Group struct {
	Key         string `json:"key"` // by which it is known from run to run
	Class       string `json:"class"`
	Message     string `json:"message"` // without its values
	Transaction string `json:"transaction,omitzero"`
	Service     string `json:"service,omitzero"`

	Count  int            `json:"count"`
	First  time.Time      `json:"first"`
	Last   time.Time      `json:"last"`
	Newest source.Event   `json:"newest"`           // the event that happened last
	Others []source.Event `json:"others,omitempty"` // some of the other ones, the newest first
	Days   map[string]int `json:"days"`             // events by day, "2026-11-24"

	State State   `json:"state"` // State.Of
	Rank  float64 `json:"rank"`  // from 0 to 1: Rank
}

// kept is how many other events a group holds.
const kept = 9

// Events puts events into groups, in the order in which they come first.
func Events(events []source.Event, by By) []*Group {
	var out []*Group
	known := map[string]*Group{}
	for i := range events {
		e := &events[i]
		k := Key(e, by)
		g := known[k]
		if g == nil {
			g = &Group{Key: k, Days: map[string]int{}}
			known[k] = g
			out = append(out, g)
		}
		g.add(e)
	}
	return out
}

// add adds an event.
func (g *Group) add(e *source.Event) {
	g.Count++
	g.Days[e.Time.UTC().Format(time.DateOnly)]++
	if g.Count == 1 || e.Time.Before(g.First) {
		g.First = e.Time
	}
	if g.Count > 1 {
		older := *e
		if !e.Time.Before(g.Last) {
			older = g.Newest
		}
		g.Others = append(g.Others, older)
		slices.SortStableFunc(g.Others, func(a, b source.Event) int { return b.Time.Compare(a.Time) })
		g.Others = g.Others[:min(len(g.Others), kept)]
	}
	if g.Count == 1 || !e.Time.Before(g.Last) {
		g.Last, g.Newest = e.Time, *e
		g.Class, g.Message, g.Transaction, g.Service = e.Class, Normal(e.Message), e.Transaction, e.Service
	}
}

// nearTop is how many frames of the program's own code say where an error is.
const nearTop = 3

// Key returns what an event has in common with others that are the same error: a hash. The number of a line is no part of it, since it changes with
// every release.
func Key(e *source.Event, by By) string {
	parts := []string{e.Service, e.Class}
	if by == ByTransaction {
		return hash(append(parts, e.Transaction))
	}
	frames := place(e.Frames, func(f source.Frame) bool { return f.InApp })
	if len(frames) == 0 {
		frames = place(e.Frames, func(source.Frame) bool { return true })
	}
	if len(frames) == 0 { // nothing but the message and the transaction tells errors apart
		frames = []string{Normal(e.Transaction)}
	}
	message := Normal(e.Message)
	if len(e.Frames) > 0 {
		message = quoted.ReplaceAllString(message, "<value>") // the place tells errors apart, a key that is missing does not
	}
	parts = append(append(parts, message), frames...)
	if e.Cause != nil {
		parts = append(parts, e.Cause.Class)
	}
	return hash(parts)
}

// place returns file and function of the first frames that are wanted.
func place(frames []source.Frame, wanted func(source.Frame) bool) (out []string) {
	for _, f := range frames {
		if !wanted(f) || f.File == "" && f.Function == "" {
			continue
		}
		if out = append(out, base(f.File)+" "+Normal(f.Function)); len(out) == nearTop {
			break
		}
	}
	return out
}

// base returns the last parts of a file's name: what stands before them differs from machine to machine.
func base(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	dir, name := path.Split(file)
	return path.Join(path.Base(dir), Normal(name))
}

func hash(parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// values are what differs from event to event of one error, and what stands for it. Their order matters: an address holds numbers.
var values = []struct {
	is   *lazyregexp.Regexp
	name string
}{
	{lazyregexp.New(`\b[\w.+-]+@[\w-]+\.[\w.-]+\b`), "<email>"},
	{lazyregexp.New(`\b[a-z][a-z0-9+.-]*://[^\s'"<>)\]]+`), "<url>"},
	{lazyregexp.New(`\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b`), "<uuid>"},
	{lazyregexp.New(`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?`), "<time>"},
	{lazyregexp.New(`\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b`), "<ip>"},
	{lazyregexp.New(`\b0x[0-9a-fA-F]+\b`), "<hex>"},
	{lazyregexp.New(`(?:/[\w.@+-]+){2,}`), "<path>"},
	{lazyregexp.New(`\b(?:[0-9a-f]*\d[0-9a-f]*[a-f][0-9a-f]*|[0-9a-f]*[a-f][0-9a-f]*\d[0-9a-f]*)\b`), ""}, // by hexName
	{lazyregexp.New(`[-+]?\b\d[\d_,]*(?:\.\d+)?(?:ns|µs|us|ms|s|m|h|%|[KMGT]i?B)?\b`), "<n>"},
}

// quoted is a value in quotes. One that looks like a name says what the error is about, and stays.
var (
	quoted = lazyregexp.New(`"[^"\n]*"|'[^'\n]*'|` + "`[^`\n]*`")
	named  = lazyregexp.New(`^[A-Za-z_][\w.:]{0,40}$`)
)

// mostNormal is how many bytes of a message tell errors apart.
const mostNormal = 400

// Normal returns a text with what stands for its values in their place, so that it is the same for all events of one error.
func Normal(text string) string {
	text = strings.Join(strings.Fields(cut(text, 4*mostNormal)), " ")
	text = quoted.ReplaceAllStringFunc(text, func(q string) string {
		if inner := q[1 : len(q)-1]; named.MatchString(inner) && !strings.ContainsAny(inner, "0123456789") {
			return q
		}
		return q[:1] + "<value>" + q[:1]
	})
	for _, v := range values {
		if v.name == "" {
			text = v.is.ReplaceAllStringFunc(text, hexName)
			continue
		}
		text = v.is.ReplaceAllString(text, v.name)
	}
	return cut(text, mostNormal)
}

// hexName returns what stands for a number in hexadecimal: short ones may be names, such as "a1".
func hexName(s string) string {
	if len(s) < 7 {
		return s
	}
	return "<hex>"
}

// cut returns the beginning of a text without half a letter at its end.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

// Name says what the error is and where: its class, or its message where the class says little, and the transaction or
// the function of the program's own code.
func (g *Group) Name() string {
	name := g.Class
	if name == "" || general[name] {
		name = strings.TrimPrefix(brief(g.Message), name+": ")
		if g.Class != "" && name != "" {
			name = g.Class + ": " + name
		}
	}
	name = cmp.Or(name, g.Class, "an error")
	if where := cmp.Or(g.Transaction, function(g.Newest.Frames)); where != "" {
		return name + " in " + where
	}
	return name
}

// general are classes that many different errors have.
var general = map[string]bool{"runtime error": true, "panic": true, "fatal error": true, "Error": true, "Exception": true, "RuntimeError": true}

// brief returns a message cut to what a title may hold.
func brief(message string) string {
	const most = 80
	message, _, _ = strings.Cut(message, "\n")
	if short := cut(message, most); len(short) < len(message) {
		return short + "…"
	}
	return message
}

// function returns the function of the program's own code in which an error happened, without the path of its package.
func function(frames []source.Frame) string {
	i := slices.IndexFunc(frames, func(f source.Frame) bool { return f.InApp })
	if i < 0 {
		return ""
	}
	name := frames[i].Function
	name = name[strings.LastIndexByte(name, '/')+1:]
	return cmp.Or(name, base(frames[i].File))
}
