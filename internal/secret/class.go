package secret

// Classes of bytes, as the shapes of rules name them.
const (
	digit    = 1 << iota // d
	hexDigit             // x, in small letters
	upper                // u: capital letters and digits
	alnum                // w
	token                // t: what URLs need no escapes for, w and - and _
	base64               // b: w and + / =
)

// letters are the classes by the letters that shapes have for them.
var letters = map[byte]uint8{'d': digit, 'x': hexDigit, 'u': upper, 'w': alnum, 't': token, 'b': base64}

var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = digit | hexDigit | upper | alnum | token | base64
		case c >= 'a' && c <= 'f':
			t[c] = hexDigit | alnum | token | base64
		case c >= 'g' && c <= 'z':
			t[c] = alnum | token | base64
		case c >= 'A' && c <= 'Z':
			t[c] = upper | alnum | token | base64
		case c == '-' || c == '_':
			t[c] = token
		case c == '+' || c == '/' || c == '=':
			t[c] = base64
		}
	}
	return t
}()

func isDigit(c byte) bool  { return class[c]&digit != 0 }
func isAlnum(c byte) bool  { return class[c]&alnum != 0 }
func isLetter(c byte) bool { return class[c]&(alnum|digit) == alnum }
func isUpper(c byte) bool  { return class[c]&(upper|digit) == upper }
func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
