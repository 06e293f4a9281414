package command

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// An Amount is a number of tokens (20000, 20k, 1.5M) or a share of something (10%). The zero value
// means "not given".
type Amount struct {
	Tokens int
	Share  float64
	Given  bool
}

// UnmarshalText reads an amount from a flag.
func (a *Amount) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	digits, unit := s, 1.0
	switch {
	case strings.HasSuffix(s, "%"):
		digits, unit = strings.TrimSpace(s[:len(s)-1]), 0.01
	case strings.HasSuffix(strings.ToLower(s), "k"):
		digits, unit = s[:len(s)-1], 1e3
	case strings.HasSuffix(strings.ToLower(s), "m"):
		digits, unit = s[:len(s)-1], 1e6
	}
	v, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil || math.IsNaN(v) || v <= 0 || math.IsInf(v, 0) || v*unit > 1e9:
		return fmt.Errorf("%q is not an amount: write 20000, 20k or 10%%", s)
	case unit == 0.01 && v > 100:
		return fmt.Errorf("%q is more than all", s)
	case unit == 0.01:
		*a = Amount{Share: v * unit, Given: true}
		return nil
	case v < 1 && unit == 1: // less than one token is a mistake
		return fmt.Errorf("%q is not an amount: did you mean %s%%?", s, strconv.FormatFloat(100*v, 'g', 4, 64))
	}
	*a = Amount{Tokens: max(1, int(v*unit)), Given: true}
	return nil
}

// Of returns the amount in tokens, where shares are of whole.
func (a Amount) Of(whole int) int {
	if a.Share > 0 {
		return max(1, int(a.Share*float64(whole)))
	}
	return a.Tokens
}
