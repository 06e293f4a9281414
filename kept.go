package decant

import "time"

// Kept returns which messages of ms, the live part of a conversation, its client kept when it compacted: they
// follow its summary but are older than it. The usage reported for them belongs to the requests that they
// came from, and does not tell the size of the next one. A message without a time counts as newer than the
// summary.
func Kept(ms []Message) []bool {
	out := make([]bool, len(ms))
	if len(ms) == 0 || !ms[0].Compaction {
		return out
	}
	var newest time.Time // of the messages so far
	for i := range ms {
		t := ms[i].Time
		out[i] = !t.IsZero() && t.Before(newest)
		if t.After(newest) {
			newest = t
		}
	}
	return out
}
