package anthropic

import "github.com/decantdev/decant"

// usage is what the API reports, each number as it was reported last: in a stream they are
// cumulative, so they replace and never add up (docs/reference/anthropic.md, "Usage").
type usage struct {
	Input  *int `json:"input_tokens"`
	Read   *int `json:"cache_read_input_tokens"`
	Write  *int `json:"cache_creation_input_tokens"`
	Output *int `json:"output_tokens"`
	Cache  *struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Iterations []iteration `json:"iterations"`
}

// An iteration is one pass over a prompt. What the API reports at the top leaves out passes that wrote a summary.
type iteration struct {
	Kind string `json:"type"`
	usage
}

// take replaces what u reports newly.
func (u *usage) take(v *usage) {
	for _, f := range []struct{ to, from **int }{{&u.Input, &v.Input}, {&u.Read, &v.Read}, {&u.Write, &v.Write},
		{&u.Output, &v.Output}} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	if v.Cache != nil {
		u.Cache = v.Cache
	}
	if v.Iterations != nil {
		u.Iterations = v.Iterations
	}
}

// passes returns the usage of the pass that wrote the answer, which says how large the context is now, and that of all
// other passes. Together they are what is billed.
func (u *usage) passes() (last, extra decant.Usage) {
	at := -1
	for i := range u.Iterations {
		if kind := u.Iterations[i].Kind; kind == "message" || kind == "fallback_message" {
			at = i
		}
	}
	if at < 0 {
		last = u.tokens()
	}
	for i := range u.Iterations {
		if i == at {
			last = u.Iterations[i].tokens()
		} else {
			extra = extra.Add(u.Iterations[i].tokens())
		}
	}
	return last, extra
}

// tokens returns one set of numbers.
func (u *usage) tokens() decant.Usage {
	n := func(p *int) int {
		if p == nil {
			return 0
		}
		return max(0, *p)
	}
	out := decant.Usage{Input: n(u.Input), CacheRead: n(u.Read), CacheWrite: n(u.Write), Output: n(u.Output)}
	if u.Cache != nil {
		out.Write1h = u.Cache.Hour
	}
	return out
}
