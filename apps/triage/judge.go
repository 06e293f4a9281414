package triage

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/group"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
)

// byPerson is the source of a judgement that a person typed. Issues and pull requests do not override it.
const byPerson = "feedback"

// Learn judges findings by what has become of their issues and pull requests. It returns how many judgements are new.
func Learn(ctx context.Context, o Options, all []deliver.Outcome) (news int, err error) {
	if o.Now == nil {
		o = fresh(o, "").o
	}
	known, err := Known(ctx, o)
	if err != nil {
		return 0, err
	}
	for i := range all {
		k := known[all[i].Key]
		if k == nil || !learned(k, &all[i]) {
			continue
		}
		news++
		if err := keep(ctx, o, k); err != nil {
			return news, err
		}
	}
	return news, nil
}

// learned applies an outcome to its error, and reports whether it is new.
func learned(k *group.Known, at *deliver.Outcome) bool {
	i := slices.IndexFunc(k.Judged, func(j group.Judgement) bool { return j.Run == at.Run && j.Number == at.Number })
	j := group.Judgement{Run: at.Run, Number: at.Number, Confidence: at.Confidence, Right: at.Right, By: at.By}
	switch {
	case i >= 0 && k.Judged[i].By == byPerson, i >= 0 && k.Judged[i] == j, i < 0 && at.Open:
		return false
	case i >= 0 && strings.HasPrefix(k.Judged[i].By, "issue ") && strings.HasPrefix(at.By, "pull request "):
		return false // the issue says more of the cause
	case at.Open:
		k.Judged = slices.Delete(k.Judged, i, i+1)
		if f := k.Found; f != nil && f.Run == at.Run && f.Number == at.Number {
			f.Right = ""
		}
		k.Closed = time.Time{}
		return true
	}
	set(k, j)
	if at.Resolved.After(k.Closed) {
		k.Closed = at.Resolved
	}
	return true
}

// set records a judgement, in place of an earlier one of the same finding.
func set(k *group.Known, j group.Judgement) {
	k.Judged = slices.DeleteFunc(k.Judged, func(old group.Judgement) bool { return old.Run == j.Run && old.Number == j.Number })
	k.Judged = append(k.Judged, j)
	if f := k.Found; f != nil && f.Run == j.Run && f.Number == j.Number {
		f.Right = map[bool]string{true: "yes", false: "no"}[j.Right]
	}
}

// Track counts how many of the judged findings with high confidence were right.
func Track(known map[string]*group.Known) (t deliver.Track) {
	for _, k := range known {
		for _, j := range k.Judged {
			if j.Confidence != string(investigate.High) {
				continue
			}
			if t.Judged++; j.Right {
				t.Right++
			}
		}
	}
	return t
}
