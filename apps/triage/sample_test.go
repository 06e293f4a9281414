package triage_test

import (
	"os"
	"slices"
	"testing"

	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/group"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/apps/triage/internal/mask"
	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/analyst"
	"github.com/decantdev/decant/testing/sample"
)

// The bundled sample from its events to a report: what is known of its defects is held against what was found. The stand-in for a model explains
// nine of the twelve, blames no commit that is innocent, and says of what a network has done that it does not know.
func TestTheSample(t *testing.T) {
	w := newWorld(t, analyst.Analyst{})
	s, err := sample.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	repos, err := s.Repos(sampleDir)
	if err != nil {
		t.Fatal(err)
	}
	var m mask.Masker
	reader, err := code.New(code.Options{Repos: repos, Mask: m.Code})
	if err != nil {
		t.Fatal(err)
	}
	p, err := preset.Load("night-watch")
	if err != nil {
		t.Fatal(err)
	}
	o := triage.Options{Journals: w.db.Store(), Code: reader, Investigator: investigate.New(investigate.Options{Client: w.client, Model: "claude-sonnet-4-5", Engine: w.db.Engine(), Journals: w.db.Store(), Preset: p, Code: reader, Budget: 60_000})}
	look := &triage.Look{Sources: []source.Source{s.Source()}, Window: source.Window{Since: s.Now.AddDate(0, 0, -30), Until: s.Now}, Most: 20, Services: s.Services(), Mask: m.Text, Simulated: true}
	seen, err := triage.Gather(t.Context(), o, look)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := look.Plan(t.Context(), o, seen)
	if err != nil {
		t.Fatal(err)
	}
	r, err := triage.Start(t.Context(), o, plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Remember(t.Context()); err != nil {
		t.Fatal(err)
	}
	known, err := sample.Defects(os.DirFS("../../testing/sample/shop"))
	if err != nil {
		t.Fatal(err)
	}
	explained := 0
	rep := r.Report()
	for i := range rep.Errors {
		f, d := rep.Errors[i].Finding, defectOf(known, seen.Groups[i])
		if f == nil || d == nil {
			t.Fatalf("error %d: %+v, %+v", i, f, d)
		}
		if len(f.Struck) > 0 {
			t.Errorf("%s: struck %+v", d.Name, f.Struck)
		}
		at := slices.ContainsFunc(f.Evidence, func(e investigate.Evidence) bool { return e.Repo == d.Repo && e.Path == d.File && e.Line == d.Line })
		if f.State == investigate.RootCause {
			explained++
			if s := f.Suspect; s != nil && d.Commit != "" && s.SHA != d.Commit {
				t.Errorf("%s: %s is blamed, not %s", d.Name, s.SHA, d.Commit)
			}
			if s := f.Suspect; s != nil && slices.Contains(d.Suspect, s.SHA) {
				t.Errorf("%s: %s only looks guilty", d.Name, s.SHA)
			}
			if !at {
				t.Errorf("%s: %q, and no evidence is line %d of %s", d.Name, f.Cause, d.Line, d.File)
			}
		}
		if d.Kind == "transient" && f.State != investigate.Inconclusive {
			t.Errorf("%s: %s", d.Name, f.Cause)
		}
	}
	if explained < 9 || len(rep.Errors) != 12 {
		t.Errorf("%d of %d explained", explained, len(rep.Errors))
	}

	// A second look finds nothing new, and what was found is known.
	if seen, err = triage.Gather(t.Context(), o, look); err != nil {
		t.Fatal(err)
	}
	if plan, err = look.Plan(t.Context(), o, seen); err != nil || len(plan.Scopes) != 0 || seen.Groups[0].State != group.Standing {
		t.Errorf("again: %v, %+v", err, plan.Scopes)
	}
	for _, e := range w.server.Log.Refused() {
		t.Errorf("request %d was refused with %d: %s", e.Number, e.Status, e.Error)
	}
}

// defectOf returns the defect that a group's events come from.
func defectOf(all []sample.Defect, g *group.Group) *sample.Defect {
	for i := range all {
		if slices.Contains(all[i].Events, g.Newest.ID) {
			return &all[i]
		}
	}
	return nil
}
