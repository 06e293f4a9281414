package source

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A sentryIssue is what Sentry has grouped.
type sentryIssue struct {
	ID        string
	Culprit   string
	Permalink string
	Project   struct{ Slug string }
}

// A sentryEvent is one event of an issue, in full.
type sentryEvent struct {
	EventID     string `json:"eventID"`
	DateCreated string `json:"dateCreated"`
	Title       string
	Message     string
	Culprit     string
	Tags        []struct{ Key, Value string }
	Release     *struct{ Version string }
	Entries     []struct {
		Type string
		Data json.RawMessage
	}
}

// A sentryException is one error of a chain.
type sentryException struct {
	Type       string
	Value      string
	Module     string
	Stacktrace *struct{ Frames []sentryFrame }
}

// A sentryFrame is one level of a stack.
type sentryFrame struct {
	Filename string
	AbsPath  string `json:"absPath"`
	LineNo   int    `json:"lineNo"`
	Function string
	Module   string
	InApp    bool `json:"inApp"`
}

// event returns what is known of an event and the issue that it belongs to.
func (s *sentryEvent) event(issue sentryIssue) (Event, error) {
	e, err := s.exceptions()
	if err != nil {
		return e, err
	}
	at, ok := parseTime(s.DateCreated)
	if !ok {
		return e, fmt.Errorf("dateCreated %q is not a time", cut(s.DateCreated, 60))
	}
	e.ID, e.Time, e.Service, e.URL = s.EventID, at, issue.Project.Slug, issue.Permalink
	if e.Class == "" && e.Message == "" {
		e.Message = cmp.Or(s.Message, s.Title)
	}
	if e.Class == "" && e.Message == "" {
		return e, fmt.Errorf("event %s has neither an exception nor a message", cut(s.EventID, 40))
	}
	e.Transaction = cmp.Or(s.Culprit, issue.Culprit)
	tags := map[string]string{}
	for _, t := range s.Tags {
		if len(tags) < mostAttributes {
			tags[cut(t.Key, 100)] = cut(t.Value, mostAttribute)
		}
	}
	e.Environment, e.Release, e.Transaction = tags["environment"], tags["release"], cmp.Or(tags["transaction"], e.Transaction)
	if s.Release != nil {
		e.Release = cmp.Or(s.Release.Version, e.Release)
	}
	maps.DeleteFunc(tags, func(k, _ string) bool { return k == "environment" || k == "release" || k == "transaction" })
	if len(tags) > 0 {
		e.Attributes = tags
	}
	bound(&e)
	return e, nil
}

// exceptions returns the chain of errors of an event. Sentry has the cause before what it caused, and the outermost frame first.
func (s *sentryEvent) exceptions() (Event, error) {
	for _, entry := range s.Entries {
		if entry.Type != "exception" {
			continue
		}
		var data struct{ Values []sentryException }
		if err := json.Unmarshal(entry.Data, &data); err != nil {
			return Event{}, fmt.Errorf("exception: %w", err)
		}
		var newest *Event
		for _, x := range data.Values[max(0, len(data.Values)-mostCauses):] {
			newest = &Event{Class: x.Type, Message: x.Value, Frames: x.frames(), Cause: newest}
		}
		if newest != nil {
			return *newest, nil
		}
	}
	return Event{}, nil
}

func (x sentryException) frames() (out []Frame) {
	if x.Stacktrace == nil {
		return nil
	}
	for _, f := range slices.Backward(x.Stacktrace.Frames) {
		file := f.Filename
		if strings.HasPrefix(f.AbsPath, "/") || file == "" {
			file = cmp.Or(f.AbsPath, file)
		}
		out = append(out, Frame{File: file, Line: max(0, f.LineNo), Function: f.Function, Module: f.Module, InApp: f.InApp})
	}
	return out
}
