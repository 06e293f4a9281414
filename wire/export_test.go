package wire

// ParseTwice reads a request of the Messages API as ParseAs does when the text is checked as a whole
// before it is read, in two passes: that is what a byte order mark makes of it, which is no part of the text.
func ParseTwice(src []byte) (*Document, error) {
	return ParseAs(Anthropic, append([]byte("\xef\xbb\xbf"), src...))
}

// Detect tells the format of src, as Parse does before it reads it.
var Detect = detect
