package source

import (
	"fmt"
	"strings"
)

// The names that New Relic's agents have for what an event needs.
var (
	rowClass       = []string{"error.class", "errorClass", "exceptionClass"}
	rowMessage     = []string{"error.message", "errorMessage", "message"}
	rowTransaction = []string{"transactionName", "path", "transaction.name"}
	rowService     = []string{"appName", "entity.name", "service.name"}
	rowEnvironment = []string{"environment", "tags.environment", "deployment.environment", "tags.env"}
	rowRelease     = []string{"release", "service.version", "tags.release", "tags.version", "version"}
	rowEntity      = []string{"entityGuid", "entity.guid"}
	rowID          = []string{"nr.guid", "guid", "id"}
)

// traces are what ErrorTraces tell, under each name by which an error may find its own.
type traces struct {
	of    map[string]traced
	asked map[string]traced // by class, message and transaction: what New Relic was asked for
}

// A traced is what an ErrorTrace tells beside its TransactionError.
type traced struct {
	frames     []Frame
	cause      *Event
	entity     string // the application
	occurrence string // the id of the trace
}

// stacksOf returns what traces tell. Not every agent puts its stack into the row.
func stacksOf(rows []object) *traces {
	out := &traces{map[string]traced{}, map[string]traced{}}
	for _, row := range rows {
		e, _ := Parse(row.stackText())
		t := traced{e.Frames, e.Cause, row.text(rowEntity), row.text([]string{"id"})}
		for _, name := range row.names() {
			if was, ok := out.of[name]; !ok || len(was.frames) == 0 && len(t.frames) > 0 {
				out.of[name] = t
			}
		}
	}
	return out
}

// find returns the trace of a row.
func (t *traces) find(row object) (traced, bool) {
	for _, name := range row.names() {
		if found, ok := t.of[name]; ok {
			return found, true
		}
	}
	return traced{}, false
}

// names returns the names by which an error finds its trace, the surest one first.
func (o object) names() (out []string) {
	class := "\x00" + o.text(rowClass)
	if id := o.text([]string{"traceId"}); id != "" {
		out = append(out, id+class)
	}
	return append(out, o.text(rowTransaction)+class+"\x00"+o.text(rowMessage))
}

// stackText returns the stack of a trace as the text that the program printed.
func (o object) stackText() string { return o.headed(o.stack()) }

// headed returns a stack with class and message of its error. Agents send it without them.
func (o object) headed(stack string) string {
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
func (n *NewRelic) event(o object, stacks *traces) (e Event, err error) {
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
	if t, ok := stacks.find(o); ok {
		e.Frames, e.Cause = t.frames, t.cause
	}
	if guid := o.text(rowEntity); guid != "" {
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
