package summary

// classes estimates tokens by classes of characters, in the manner of a vocabulary of 200,000 pieces.
type classes struct{}

// Count returns about how many tokens text has, never 0.
func (classes) Count(text string) int { return int(estimate(text) + 1) }

// weightOf is what each byte counts. The bytes of a character outside of ASCII count with its first.
var weightOf = weights()

func weights() (t [256]float32) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			t[c] = .2106
		case c >= '0' && c <= '9':
			t[c] = .7869
		case c == '\n':
			t[c] = .9353
		case c == ' ' || c == '\t' || c == '\r':
			t[c] = .0819
		case c > ' ' && c < 0x7f:
			t[c] = .5562
		case c >= 0xc0:
			t[c] = .7
		}
	}
	return t
}

// estimate returns about how many tokens s has, newlines included.
func estimate(s string) float64 {
	n := float32(0)
	for i := 0; i < len(s); i++ {
		n += weightOf[s[i]]
	}
	return float64(n)
}

const (
	perWord = 1.6 // tokens of a word and the blank after it
	perChar = .27 // tokens of a byte of the source
)
