package deliver

import (
	"slices"

	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/apps/triage/internal/mask"
)

// masked returns a report in which no secret and nothing personal is left. It is done before texts are cut, since half a secret is not known as
// one. What sources and code say was masked when it was read; what a model has said of it was not.
func masked(m *mask.Masker, rep *Report) *Report {
	out := *rep
	out.Failed, out.Notices = m.Text(rep.Failed), texts(m, rep.Notices)
	out.Errors = slices.Clone(rep.Errors)
	for i := range out.Errors {
		e := &out.Errors[i]
		e.Trial = nil // it is for people at this machine
		for _, text := range []*string{&e.Class, &e.Message, &e.Transaction, &e.Service, &e.Environment, &e.Release, &e.Left, &e.Owner} {
			*text = m.Text(*text)
		}
		if e.Finding != nil {
			e.Finding = maskedFinding(m, e.Finding)
		}
	}
	return &out
}

func texts(m *mask.Masker, all []string) []string {
	out := slices.Clone(all)
	for i := range out {
		out[i] = m.Text(out[i])
	}
	return out
}

func maskedFinding(m *mask.Masker, f *investigate.Finding) *investigate.Finding {
	out := *f
	out.Cause, out.Fix, out.Error, out.Patch = m.Text(f.Cause), m.Text(f.Fix), m.Text(f.Error), m.Text(f.Patch)
	out.Next, out.Tags = texts(m, f.Next), texts(m, f.Tags)
	out.Evidence = slices.Clone(f.Evidence)
	for i := range out.Evidence {
		maskEvidence(m, &out.Evidence[i])
	}
	if f.Suspect != nil {
		s := *f.Suspect
		s.Why = m.Text(s.Why)
		out.Suspect = &s
	}
	out.Struck = nil
	for _, s := range f.Struck {
		if s.Why = m.Text(s.Why); s.Evidence != nil {
			e := *s.Evidence
			maskEvidence(m, &e)
			s.Evidence = &e
		}
		if s.Suspect != nil {
			w := *s.Suspect
			w.SHA, w.Why = m.Text(w.SHA), m.Text(w.Why)
			s.Suspect = &w
		}
		out.Struck = append(out.Struck, s)
	}
	return &out
}

func maskEvidence(m *mask.Masker, e *investigate.Evidence) {
	e.Path, e.Text, e.Says = m.Text(e.Path), m.Text(m.Code(e.Text)), m.Text(e.Says)
}
