package token

// A Calibration says how far estimates for one model are from what the provider reports. The zero
// value has learned nothing and changes nothing. It is a value: keep the one that Observe returns.
type Calibration struct {
	Factor float64 `json:"factor"` // reported as a share of estimated; 0 counts as 1
	Seen   int     `json:"seen"`   // number of observations
}

// How fast a calibration learns.
const (
	leastFactor   = 0.5
	mostFactor    = 2.0
	smoothing     = 0.07 // weight of one observation of full size
	mostStep      = 0.05 // most that one observation can change
	fullSize      = 2000 // estimated tokens from which an observation has full weight
	leastObserved = 100  // estimated tokens below which framing hides the text
)

// Observe returns the calibration after the provider has reported the size of a text, together with
// its estimate without calibration. It ignores texts that are too small.
func (c Calibration) Observe(estimated, reported int) Calibration {
	if estimated < leastObserved || reported <= 0 {
		return c
	}
	ratio := clamp(float64(reported)/float64(estimated), leastFactor, mostFactor)
	f := c.factor()
	weight := smoothing * min(1, float64(estimated)/fullSize)
	f += clamp(weight*(ratio-f), -mostStep, mostStep)
	return Calibration{Factor: clamp(f, leastFactor, mostFactor), Seen: c.Seen + 1}
}

// Reset returns the calibration to start from after a compaction, which has learned nothing: the text
// that c learned from is gone.
func (c Calibration) Reset() Calibration { return Calibration{} }

func (c Calibration) factor() float64 {
	if c.Factor == 0 {
		return 1
	}
	return clamp(c.Factor, leastFactor, mostFactor)
}

func clamp(x, low, high float64) float64 {
	if !(x > low) { // also when x is not a number
		return low
	}
	return min(x, high)
}
