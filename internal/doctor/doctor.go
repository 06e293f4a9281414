// Package doctor examines everything between an agent and the API: upstream, clock, collector of traces, the model that
// writes records, store, keys, and
// the environment in which clients start. What it finds are values, for whoever shows them.
package doctor

import "context"

// Examine returns what is found out about a setup.
func Examine(ctx context.Context, s *Setup) []Finding {
	x := &examination{Setup: s}
	x.upstream(ctx)
	x.collector(ctx)
	x.summary(ctx)
	x.store(ctx)
	x.keys()
	x.clients(ctx)
	x.costs()
	return x.findings
}
