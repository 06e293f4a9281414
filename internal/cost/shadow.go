package cost

import (
	"math"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// A Mark is a cache marker in a prompt. Everything before it is kept for a while; what stands behind the last
// one is paid in full with every request.
type Mark struct {
	End  int `json:"end"`  // tokens of the prompt up to it, the marked block included
	Life int `json:"life"` // how long its entry is kept, in seconds
}

// A Prompt is a request as far as what its prompt costs depends on it.
type Prompt struct {
	Tokens int
	Fixed  int    // of them, system prompt and tools
	Same   int    // of them, from the first on, that the request before had too; more than Tokens: all of that request
	Marks  []Mark // in order
	Least  int    // tokens of the smallest prefix that is cached

	// Unasked says that the provider keeps prompts without being asked and charges nothing for writing.
	Unasked bool
}

// Billed returns the usage of a request of whose prompt so many tokens are read from the cache, Output left
// out. Blocks behind the last marker are neither read nor written.
func (p *Prompt) Billed(read int) decant.Usage {
	if p.Unasked {
		read = max(0, min(read, p.Tokens))
		return decant.Usage{CacheRead: read, Input: p.Tokens - read}
	}
	reach, hour := 0, 0
	for _, m := range p.Marks {
		if m.End < p.Least {
			continue
		}
		if reach = max(reach, m.End); m.Life > short {
			hour = max(hour, m.End)
		}
	}
	read = max(0, min(read, reach))
	return decant.Usage{CacheRead: read, CacheWrite: reach - read, Write1h: max(0, hour-read), Input: p.Tokens - reach}
}

// Missed reports whether a request that read so many tokens has not even found its own system prompt and
// tools in the cache, although a marker is behind them.
func (p *Prompt) Missed(read int) bool {
	fixed := 0
	for _, m := range p.Marks {
		if m.End <= p.Fixed && m.End >= p.Least {
			fixed = m.End
		}
	}
	return float64(read) < 0.8*float64(fixed)
}

// A Shadow follows what a client's own requests would have been billed for, had nobody changed them: what
// stands before their cache markers is kept as long as each of them asks for. The zero value has seen no
// request.
type Shadow struct {
	Prompt int       `json:"prompt,omitzero"` // tokens of the request before
	Fixed  int       `json:"fixed,omitzero"`  // of them, system prompt and tools
	At     time.Time `json:"at,omitzero"`     // when it was made
	Marks  []Mark    `json:"marks,omitempty"` // that it left in the cache
}

// After returns the shadow after a request.
func (p *Prompt) After(at time.Time) Shadow {
	next := Shadow{Prompt: p.Tokens, Fixed: p.Fixed, At: at}
	for _, m := range p.Marks {
		if m.End >= p.Least {
			next.Marks = append(next.Marks, m)
		}
	}
	if p.Unasked {
		next.Marks = []Mark{{End: p.Tokens}}
	}
	return next
}

// Left returns how many tokens of a prompt the cache holds from the request before. alive says that what
// that request left is there still, whatever the clock says.
func (s *Shadow) Left(p *Prompt, at time.Time, alive bool) (n int) {
	for _, m := range s.Marks {
		if alive || at.Sub(s.At) < time.Duration(m.Life)*time.Second {
			n = max(n, m.End)
		}
	}
	return min(n, p.Same)
}

// Life returns for how long the messages of the request before are kept: what the last marker behind the
// fixed part asked for, or 0.
func (s *Shadow) Life() (life time.Duration) {
	for _, m := range s.Marks {
		if m.End > s.Fixed {
			life = time.Duration(m.Life) * time.Second
		}
	}
	return life
}

// short is the usual life of a cache entry, in seconds.
const short = int(shortLife / time.Second)

// A Doubt is how little the model of the cache can be trusted for one conversation: 0 when what it
// predicts has come true, 1 when nothing is ever read from the cache.
type Doubt float64

// The constants of Doubt.
const (
	doubtWeight = 0.3 // of the newest observation
	doubtNoise  = 0.1 // share by which reports may fall short without meaning anything
)

// Observe compares how many tokens should have been read from the cache with how many were. More than
// predicted is no reason for doubt: it was cheaper than priced.
func (d Doubt) Observe(predicted, reported int) Doubt {
	if predicted <= 0 {
		return d
	}
	short := 1 - Share(predicted, reported)
	out := Doubt((1-doubtWeight)*float64(d) + doubtWeight*short)
	if out < 0.01 {
		return 0
	}
	return out
}

// Share returns the share of the tokens that should have been read from the cache which were: 1 where what
// is missing may mean nothing.
func Share(predicted, reported int) float64 {
	if share := float64(reported) / float64(max(1, predicted)); share <= 1-doubtNoise {
		return share
	}
	return 1
}

// Read returns what a token costs to carry in one request when reading it costs read and writing it
// write: the dearer the less the cache can be trusted.
func (d Doubt) Read(read, write float64) float64 { return read + float64(d)*(write-read) }

// Billionths returns what u costs in billionths of a US dollar, and whether all of it has a known
// price. Any list price times any number of tokens is a whole number of them, so sums are exact.
func Billionths(m token.Model, u decant.Usage, t Terms) (int64, bool) {
	usd, ok := Of(m, u, t).Total()
	return int64(math.Round(usd * 1e9)), ok
}
