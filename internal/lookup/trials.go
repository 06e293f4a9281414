package lookup

import (
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

// bookTrials adds what was booked for requests that were only observed.
func bookTrials(to *report.Trials, t *store.Trials) {
	to.Requests += t.Calls
	to.Sent += t.Sent
	to.Would += t.Prompt
	to.Spent += t.Cost.USD()
	to.Cost += t.Would.USD()
}

// planned adds what was planned for a request.
func planned(to *report.Trials, r *store.Request) {
	if p := r.Planned; p != nil && p.Reason != "" {
		to.Pours++
		to.Risk += p.Risk
	}
}
