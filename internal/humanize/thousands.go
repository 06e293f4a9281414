package humanize

import (
	"fmt"
	"strconv"
)

// Thousands writes n with a comma before every three digits: 12,345.
func Thousands(n int) string {
	switch {
	case n < 0:
		return "-" + Thousands(-n)
	case n < 1000:
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", Thousands(n/1000), n%1000)
}
