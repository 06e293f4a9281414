package deliver

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// An Outcome is what has become of an issue or a pull request.
type Outcome struct {
	Key        string    // of the error
	Run        string    // whose finding it is about
	Number     int       // of the error in the run
	Confidence string    // of the finding
	Right      bool      // what it says of the finding
	Open       bool      // nobody says anything any more: the issue was opened again
	Resolved   time.Time // since when the error is called resolved; zero: it is not
	By         string    // where it is known from: "issue acme/shop#3 closed as completed"
}

// Outcomes reads what has become of what we have made. An issue that was closed as completed, or a pull request that was merged, says that the
// finding was right; one that was closed as not planned says that it was wrong. A pull request that was closed without being merged says nothing of the
// cause. One that was opened again says nothing any more.
func (h *Hub) Outcomes(ctx context.Context, s IssueSettings) (out []Outcome, err error) {
	s.fill()
	all, err := h.ours(ctx, s.Labels[0])
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		n, err := strconv.Atoi(o.mark.number)
		if err != nil || n == 0 {
			continue // it was about no finding
		}
		at := Outcome{Key: o.key, Run: o.run, Number: n, Confidence: o.confidence}
		kind := "issue"
		if o.pull {
			kind = "pull request"
		}
		name := fmt.Sprintf("%s %s#%d", kind, h.repo(), o.number)
		said, err := h.verdict(ctx, &o, &at)
		if err != nil {
			return nil, err
		}
		if said != "" {
			at.By = name + " " + said
			out = append(out, at)
		}
	}
	return out, nil
}

// verdict says what an issue or a pull request says of its finding; empty: nothing.
func (h *Hub) verdict(ctx context.Context, o *ours, at *Outcome) (string, error) {
	switch {
	case o.pull && o.open:
		return "", nil
	case o.pull:
		merged, err := h.merged(ctx, o.number)
		if err != nil || !merged {
			return "", err
		}
		at.Right, at.Resolved = true, o.closed
		return "merged", nil
	case o.open && o.reason == "reopened":
		at.Open = true
		return "opened again", nil
	case o.open:
		return "", nil
	case o.reason == "not_planned":
		return "closed as not planned", nil
	case o.reason == "duplicate":
		return "", nil
	}
	at.Right, at.Resolved = true, o.closed
	return "closed as completed", nil
}
