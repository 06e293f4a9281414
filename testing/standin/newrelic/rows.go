package newrelic

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant/apps/triage/source"
)

// Rows returns events as an agent of New Relic would have sent them: a TransactionError each, an ErrorTrace of each that has a stack, and the Spans of
// its request. They have the trace's id in common.
func Rows(events []source.Event) map[string][]Row {
	out := map[string][]Row{}
	for i, e := range events {
		id := fmt.Sprintf("%032x", i+1)
		row := Row{"timestamp": e.Time.UnixMilli(), "error.class": e.Class, "error.message": e.Message, "transactionName": e.Transaction,
			"appName": e.Service, "guid": e.ID, "traceId": id}
		for name, v := range map[string]string{"environment": e.Environment, "service.version": e.Release} {
			if v != "" {
				row[name] = v
			}
		}
		for name, v := range e.Attributes {
			if _, taken := row[name]; !taken {
				row[name] = v
			}
		}
		out["TransactionError"] = append(out["TransactionError"], row)
		out["Span"] = append(out["Span"], spans(e, id)...)
		if len(e.Frames) == 0 {
			continue
		}
		trace := maps.Clone(row)
		trace["stackTrace"] = stack(e)
		out["ErrorTrace"] = append(out["ErrorTrace"], trace)
	}
	return out
}

// spans returns the steps of the request in which an event happened: the request, and the function of its own code that failed. How long they took no event
// tells, so they have no duration.
func spans(e source.Event, trace string) []Row {
	row := Row{"timestamp": e.Time.UnixMilli(), "traceId": trace, "guid": trace[:15] + "0", "name": e.Transaction, "appName": e.Service, "nr.entryPoint": true}
	out := []Row{row}
	if i := slices.IndexFunc(e.Frames, func(f source.Frame) bool { return f.InApp }); i >= 0 {
		row = Row{"timestamp": e.Time.UnixMilli(), "traceId": trace, "guid": trace[:15] + "1", "parentId": row["guid"], "name": e.Frames[i].Function, "appName": e.Service}
		out = append(out, row)
	}
	row["error.class"], row["error.message"] = e.Class, e.Message
	return out
}

// stack returns a stack as the program's language prints it, told by the files' names.
func stack(e source.Event) string {
	var b strings.Builder
	switch path.Ext(e.Frames[0].File) {
	case ".py":
		b.WriteString("Traceback (most recent call last):\n")
		for _, f := range slices.Backward(e.Frames) {
			fmt.Fprintf(&b, "  File %q, line %d, in %s\n", f.File, f.Line, f.Function)
		}
		fmt.Fprintf(&b, "%s: %s", e.Class, e.Message)
	case ".go":
		fmt.Fprintf(&b, "panic: %s\n\ngoroutine 1 [running]:\n", e.Message)
		for _, f := range e.Frames {
			fmt.Fprintf(&b, "%s(...)\n\t%s:%d +0x1\n", f.Function, f.File, f.Line)
		}
	case ".java", ".kt":
		fmt.Fprintf(&b, "%s: %s\n", e.Class, e.Message)
		for _, f := range e.Frames {
			fmt.Fprintf(&b, "\tat %s(%s:%d)\n", f.Function, path.Base(f.File), f.Line)
		}
	case ".rb":
		fmt.Fprintf(&b, "%s: %s\n", e.Class, e.Message)
		for _, f := range e.Frames {
			b.WriteString(f.File + ":" + strconv.Itoa(f.Line) + ":in '" + f.Function + "'\n")
		}
	default:
		fmt.Fprintf(&b, "%s: %s\n", e.Class, e.Message)
		for _, f := range e.Frames {
			fmt.Fprintf(&b, "    at %s (%s:%d:1)\n", f.Function, f.File, f.Line)
		}
	}
	return b.String()
}
