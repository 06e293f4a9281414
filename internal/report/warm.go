package report

import (
	"fmt"
	"path"

	"github.com/decantdev/decant/internal/replay"
)

// warm says what keeping the cache warm would have come to, session by session where something happened.
func (r *Replay) warm(p *printer) {
	if r.Warm == nil {
		return
	}
	rows := [][]string{{"keep warm", "pings", "pauses", "kept", "spent", "saved", "of what it cost"}}
	worst := 0.0
	for _, s := range r.Sessions {
		if w := s.Warm; w != nil {
			worst = max(worst, w.Share())
			if w.Pings > 0 || w.Pauses > 0 {
				rows = append(rows, warmRow(path.Base(s.Name), w))
			}
		}
	}
	if len(r.Sessions) > 1 {
		rows = append(rows, warmRow("all", r.Warm))
	}
	p.line("")
	p.table(rows, "lRrRrRr")
	p.line("")
	p.line("%s", wrap(fmt.Sprintf("pauses: those after which the recorded usage shows that the cache had expired. Pings read the whole prefix shortly before that; those after the last answer are "+
		"in what was spent. The worst session comes to %.3f of what it cost; the rule allows %.2f.", worst, 1.02), p.across()))
}

func warmRow(name string, w *replay.Warm) []string {
	return []string{name, Thousands(w.Pings), Thousands(w.Pauses), Thousands(w.Kept), usd(w.Spent), usd(w.Saved), fmt.Sprintf("%.3f", w.Share())}
}
