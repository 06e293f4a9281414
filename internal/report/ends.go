package report

import (
	"fmt"
	"path"
)

// ends says, for each policy that was asked for it, how dear it is where a session ends early.
func (r *Replay) ends(p *printer) {
	rows := [][]string{{"worst end", "ends", "dearer", "worst", "behind request", "of"}}
	for i := range r.Total {
		if w := &r.Total[i].Worst; w.Ends > 0 {
			rows = append(rows, []string{r.Total[i].Policy, Thousands(w.Ends), Thousands(w.Dearer), ratio(w.Ratio), Thousands(w.Request), path.Base(w.Session)})
		}
	}
	if len(rows) == 1 {
		return
	}
	p.line("")
	p.table(rows, "lRRrRl")
	p.line("")
	p.line("%s", wrap(fmt.Sprintf(
		"Each session could have ended behind any request, also right behind a pour. worst: prompts up to the worst of these ends, as a share of sending everything. dearer: ends at which a policy costs over %s more. From the first pour on that the window demands, nothing is compared.", "1%"), p.across()))
}
