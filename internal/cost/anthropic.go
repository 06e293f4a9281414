package cost

import "time"

// What the Messages API's prompt cache does (docs/reference/anthropic.md, "The prompt cache"). These numbers
// are here and nowhere else; the sandbox has its own on purpose, because it checks them.
const (
	LookBack    = 20 // blocks that a lookup covers from each marker, which counts as one
	MostMarkers = 4  // of one request

	shortLife = 5 * time.Minute // of an entry whose marker says nothing, or "5m"
	LongLife  = time.Hour       // of one whose marker says "1h"
)

// LifeOf returns how long an entry lives whose marker asks for a lifetime: "", "5m" or "1h". There is no
// entry for none.
func LifeOf(lifetime string) time.Duration {
	switch lifetime {
	case "":
		return 0
	case "1h":
		return LongLife
	}
	return shortLife
}
