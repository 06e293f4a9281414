package newrelic

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/decantdev/decant/apps/triage/source"
)

// exceptions are the stacks, which no NRQL tells: rows with the id of an ErrorTrace, its entity and its frames.
const exceptions = ""

// Rows returns events as an agent of New Relic would have sent them: a TransactionError each, an ErrorTrace of each that
// has a stack, and the Spans of its request. They have the trace's id in common. The stack itself is an exception of the
// application.
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
		trace["id"], trace["entityGuid"], trace["message"] = fmt.Sprintf("%08x-0000-11f1-b1d8-0242ac110002", i+1), entity(e), e.Message
		delete(trace, "error.message")
		out["ErrorTrace"] = append(out["ErrorTrace"], trace)
		out[exceptions] = append(out[exceptions], Row{"id": trace["id"], "entityGuid": trace["entityGuid"], "message": e.Message, "frames": frames(e)})
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

// entity returns the id of the application of an event, as NerdGraph has it: account, domain, type, id.
func entity(e source.Event) string {
	return base64.RawStdEncoding.EncodeToString([]byte("1|APM|APPLICATION|" + e.Service))
}

// A frame is a line of a stack as NerdGraph has it.
type frame struct {
	Filepath  string `json:"filepath"`
	Formatted string `json:"formatted"`
	Line      int    `json:"line"`
	Name      string `json:"name"`
}

// frames returns a stack. Each line is as the program's language prints it, told by the files' names.
func frames(e source.Event) (out []frame) {
	for _, f := range e.Frames {
		line := frame{Filepath: f.File, Line: f.Line, Name: f.Function}
		switch path.Ext(e.Frames[0].File) {
		case ".py":
			line.Formatted = fmt.Sprintf("  File %q, line %d, in %s", f.File, f.Line, f.Function)
		case ".go":
			line.Formatted = fmt.Sprintf("%s(...)\n\t%s:%d +0x1", f.Function, f.File, f.Line)
		case ".java", ".kt":
			line.Formatted = fmt.Sprintf("\tat %s(%s:%d)", f.Function, path.Base(f.File), f.Line)
		case ".rb":
			line.Formatted = f.File + ":" + strconv.Itoa(f.Line) + ":in '" + f.Function + "'"
		default:
			line.Formatted = fmt.Sprintf("    at %s (%s:%d:1)", f.Function, f.File, f.Line)
		}
		out = append(out, line)
	}
	if len(out) > 0 && path.Ext(out[0].Filepath) == ".py" {
		slices.Reverse(out) // the outermost call comes first
	}
	return out
}
