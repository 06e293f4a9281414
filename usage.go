package decant

// Usage is what a provider reported for one request, in tokens. The parts do not overlap: the
// prompt is Input + CacheRead + CacheWrite, whatever the provider's own names include.
type Usage struct {
	Input      int `json:"input"`       // neither read from the cache nor written to it
	CacheRead  int `json:"cache_read"`  // read from the prompt cache
	CacheWrite int `json:"cache_write"` // written to the prompt cache, all lifetimes
	Write1h    int `json:"write_1h"`    // the part of CacheWrite that lives for an hour
	Output     int `json:"output"`      // reasoning included
}

// Prompt returns the size of the prompt in tokens.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

// Context returns what the request and its answer take in the window. Every meter starts from this
// number.
func (u Usage) Context() int { return u.Prompt() + u.Output }

// Add returns the sum of u and v, part by part.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		Write1h:    u.Write1h + v.Write1h,
		Output:     u.Output + v.Output,
	}
}

// A Counter counts the tokens of a text in one model's vocabulary.
type Counter interface {
	// Count returns the number of tokens in text, without any framing of blocks or messages.
	// It never fails and is safe for concurrent use.
	Count(text string) int
}
