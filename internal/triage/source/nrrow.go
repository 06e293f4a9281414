package source

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/triage/event"
)

// The names that New Relic's agents have for what an event needs.
var (
	rowClass       = []string{"error.class", "errorClass", "exceptionClass"}
	rowMessage     = []string{"error.message", "errorMessage", "message"}
	rowTransaction = []string{"transactionName", "path", "transaction.name"}
	rowService     = []string{"appName", "entity.name", "service.name"}
	rowEnvironment = []string{"environment", "tags.environment", "deployment.environment", "tags.env"}
	rowRelease     = []string{"release", "service.version", "tags.release", "tags.version", "version"}
	rowID          = []string{"nr.guid", "guid", "id"}
)

// A traced is what an ErrorTrace tells beside its TransactionError.
type traced struct {
	frames []event.Frame
	cause  *event.Event
}

// stacksOf returns what traces tell, under each name by which an error may find its own.
func stacksOf(rows []object) map[string]traced {
	out := map[string]traced{}
	for _, row := range rows {
		e, ok := Parse(row.stackText())
		if !ok {
			continue
		}
		for _, name := range row.names() {
			if _, was := out[name]; !was {
				out[name] = traced{e.Frames, e.Cause}
			}
		}
	}
	return out
}

// names returns the names by which an error finds its trace, the surest one first.
func (o object) names() (out []string) {
	class := "\x00" + o.text(rowClass)
	if id := o.text([]string{"traceId"}); id != "" {
		out = append(out, id+class)
	}
	return append(out, o.text(rowTransaction)+class+"\x00"+o.text(rowMessage))
}

// stackText returns the stack of a trace as the text that the program printed. Agents send it without the class before it.
func (o object) stackText() string {
	stack := o.stack()
	if _, ok := Parse(stack); ok {
		return stack
	}
	head := o.text(rowClass) + ": " + o.text(rowMessage) + "\n"
	if _, ok := Parse(head + stack); ok {
		return head + stack
	}
	return traceback + "\n" + strings.TrimRight(stack, "\n") + "\n" + head // Python, outermost frame first
}

// event reads one row.
func (n *NewRelic) event(o object, stacks map[string]traced) (e event.Event, err error) {
	at, ok := o["timestamp"]
	if !ok {
		return e, fmt.Errorf("no timestamp")
	}
	if e.Time, err = timeOf(at); err != nil {
		return e, err
	}
	e.Class, e.Message, e.Transaction = o.text(rowClass), o.text(rowMessage), o.text(rowTransaction)
	e.Service, e.Environment, e.Release, e.ID = o.text(rowService), o.text(rowEnvironment), o.text(rowRelease), o.text(rowID)
	if e.Class == "" && e.Message == "" {
		return e, fmt.Errorf("neither error.class nor error.message")
	}
	for _, name := range o.names() {
		if t, ok := stacks[name]; ok {
			e.Frames, e.Cause = t.frames, t.cause
			break
		}
	}
	if guid := o.text([]string{"entityGuid", "entity.guid"}); guid != "" {
		host := "one.newrelic.com"
		if strings.EqualFold(n.Region, "eu") {
			host = "one.eu.newrelic.com"
		}
		e.URL = "https://" + host + "/redirect/entity/" + guid
	}
	bound(&e)
	e.Attributes = o.rest()
	return e, nil
}

// A Span is one step of a request that failed.
type Span struct {
	Name     string
	Service  string
	Start    time.Time
	Duration time.Duration
	Class    string // of the error, empty: none
	Message  string // of the error
}

// Spans returns the steps of the request in which an event happened, in their order, at most 100; none where the event names no trace.
func (n *NewRelic) Spans(ctx context.Context, e event.Event) ([]Span, error) {
	id := e.Attributes["traceId"]
	if id == "" {
		return nil, nil
	}
	around := Window{e.Time.Add(-time.Hour), e.Time.Add(time.Hour)}
	rows, err := n.query(ctx, "SELECT * FROM Span WHERE traceId = "+quote(id)+during(around)+" LIMIT 100")
	if err != nil {
		return nil, err
	}
	out := make([]Span, 0, len(rows))
	for i := len(rows) - 1; i >= 0; i-- { // New Relic has the newest one first
		row := rows[i]
		s := Span{Name: row.text([]string{"name"}), Service: row.text(rowService), Class: row.text(rowClass), Message: cut(row.text(rowMessage), mostMessage)}
		if s.Start, err = timeOf(row["timestamp"]); err != nil {
			return nil, fmt.Errorf("%s: span: %w", n.Name(), err)
		}
		if d, err := time.ParseDuration(row.text([]string{"duration.ms"}) + "ms"); err == nil {
			s.Duration = d
		} else if d, err := time.ParseDuration(row.text([]string{"duration"}) + "s"); err == nil {
			s.Duration = d
		}
		out = append(out, s)
	}
	return out, nil
}
