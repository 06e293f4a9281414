package token

// ImageTokens returns the tokens of an image.
func ImageTokens(p Provider, width, height int) int { return imageTokens(p, width, height) }

// With returns an estimator with another calibration.
func (e *Estimator) With(c Calibration) *Estimator { return e.with(c) }

// Generation returns the version of a model of Claude.
func (m *Model) Generation() (major, minor int, ok bool) { return m.generation() }
