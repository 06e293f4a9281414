package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes that is written like "512MB" or "1GB".
type Size int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) (err error) {
	*s, err = size(string(text))
	return err
}

// size reads a size; a unit is 1024 of the one before.
func size(text string) (Size, error) {
	number, unit := strings.ToUpper(strings.TrimSpace(text)), 0
	for i, suffix := range []string{"KB", "MB", "GB"} {
		if n, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = strings.TrimSpace(n), 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64>>unit {
		return 0, fmt.Errorf("%q is not a size like 512MB or 1GB", text)
	}
	return Size(n << unit), nil
}
