package replay

import (
	"math"
	"slices"
)

// SumWarm adds up what keep-warm would have come to; nil when nobody asked.
func SumWarm(ss []*Session) (out *Warm) {
	for _, s := range ss {
		if s.Warm == nil {
			continue
		}
		if out == nil {
			out = &Warm{}
		}
		out.add(s.Warm)
	}
	return out
}

// ErrorsOf sums up the errors of sessions.
func ErrorsOf(ss []*Session) Errors {
	var out Errors
	var all []float64
	var modelled, paid float64
	for _, s := range ss {
		a := s.Recorded
		if a == nil || a.Unpriced || a.PaidUSD == 0 {
			continue
		}
		out.PaidUSD += a.USD
		all = append(all, math.Abs(a.Error))
		modelled, paid = modelled+a.Modelled, paid+a.PaidUSD
	}
	if out.Sessions = len(all); out.Sessions == 0 {
		return out
	}
	slices.Sort(all)
	for _, e := range all {
		out.Mean += e / float64(len(all))
	}
	out.Median = (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	out.P90 = all[(9*len(all)+9)/10-1]
	out.Bias = modelled/paid - 1
	return out
}
