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
	rowID          = []string{"nr.guid", "guid", "id"}
)

// A traced is what an ErrorTrace tells beside its TransactionError.
type traced struct {
	frames []Frame
	cause  *Event
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
func (n *NewRelic) event(o object, stacks map[string]traced) (e Event, err error) {
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
