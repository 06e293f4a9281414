package transport

import "github.com/decantdev/decant/internal/hold"

// A keep counts the bytes of an answer that are kept in memory, until there are too many.
type keep struct {
	share *hold.Share
	bytes int
	taken int  // of these bytes, taken from the share
	over  bool // there were too many, and nothing is kept
}

// keepStep is how many bytes are taken from the share at once. Most answers are smaller and take nothing.
const keepStep = 256 << 10

// more reports whether n more bytes may be kept.
func (k *keep) more(n int) bool {
	if k.over {
		return false
	}
	k.bytes += n
	for k.bytes > maxAnswer || k.bytes > k.taken+keepStep {
		if k.bytes > maxAnswer || !k.share.Take(keepStep) {
			k.over = true
			return false
		}
		k.taken += keepStep
	}
	return true
}
