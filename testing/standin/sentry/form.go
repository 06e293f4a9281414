package sentry

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/triage/source"
)

// chosen returns the events of an issue that are asked for, the newest first.
func (a ask) chosen(i Issue) []source.Event {
	out := slices.DeleteFunc(slices.Clone(i.Events), func(e source.Event) bool {
		return e.Time.Before(a.start) || e.Time.After(a.end) || len(a.environments) > 0 && !slices.Contains(a.environments, e.Environment)
	})
	slices.SortStableFunc(out, func(x, y source.Event) int { return y.Time.Compare(x.Time) })
	return out
}

// issues returns the issues that are asked for.
func (s *Server) issues(a ask) (out []any) {
	type found struct {
		issue  Issue
		events []source.Event
	}
	var all []found
	for _, i := range s.opts.Issues {
		events := a.chosen(i)
		if len(events) == 0 || a.status != "" && i.Status != a.status || len(a.projects) > 0 && !slices.Contains(a.projects, events[0].Service) {
			continue
		}
		all = append(all, found{i, events})
	}
	slices.SortStableFunc(all, func(x, y found) int {
		if a.sort == "freq" {
			return cmp.Compare(len(y.events), len(x.events))
		}
		return y.events[0].Time.Compare(x.events[0].Time)
	})
	for _, f := range all {
		e := f.events[0]
		out = append(out, map[string]any{
			"id": f.issue.ID, "shortId": strings.ToUpper(e.Service) + "-" + f.issue.ID, "status": f.issue.Status, "type": "error",
			"title": title(e), "culprit": e.Transaction, "permalink": "https://" + s.opts.Organization + ".sentry.invalid/issues/" + f.issue.ID + "/",
			"count": fmt.Sprint(len(f.events)), "firstSeen": form(f.events[len(f.events)-1].Time), "lastSeen": form(e.Time),
			"metadata": map[string]any{"type": e.Class, "value": e.Message}, "project": map[string]any{"id": "1", "slug": e.Service, "name": e.Service},
		})
	}
	return out
}

// events returns the events of an issue that are asked for: without full, only their heads.
func (s *Server) events(i Issue, a ask) (out []any) {
	for n, e := range a.chosen(i) {
		id := cmp.Or(e.ID, fmt.Sprintf("%s%028x", i.ID, n))
		one := map[string]any{"id": id, "eventID": id, "groupID": i.ID, "dateCreated": form(e.Time), "title": title(e), "message": e.Message,
			"culprit": e.Transaction, "tags": tags(e), "platform": "other"}
		if a.full {
			one["entries"] = []any{map[string]any{"type": "exception", "data": map[string]any{"values": chain(&e)}}}
			if one["release"] = any(nil); e.Release != "" {
				one["release"] = map[string]any{"version": e.Release}
			}
		}
		out = append(out, one)
	}
	return out
}

func title(e source.Event) string { return strings.TrimSuffix(e.Class+": "+e.Message, ": ") }

func form(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999Z") }

func tags(e source.Event) []any {
	all := maps.Clone(e.Attributes)
	if all == nil {
		all = map[string]string{}
	}
	for k, v := range map[string]string{"environment": e.Environment, "release": e.Release, "transaction": e.Transaction} {
		if v != "" {
			all[k] = v
		}
	}
	out := []any{}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, map[string]string{"key": k, "value": all[k]})
	}
	return out
}

// chain returns an error with its causes: the cause before what it caused, and the outermost frame first.
func chain(e *source.Event) []any {
	if e == nil {
		return []any{}
	}
	frames := []any{}
	for _, f := range slices.Backward(e.Frames) {
		frames = append(frames, map[string]any{"filename": path.Base(f.File), "absPath": f.File, "lineNo": f.Line, "function": f.Function, "module": f.Module, "inApp": f.InApp})
	}
	return append(chain(e.Cause), map[string]any{"type": e.Class, "value": e.Message, "module": nil, "stacktrace": map[string]any{"frames": frames}})
}
