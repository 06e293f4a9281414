package transport

import "bytes"

// The memory that a request takes while it is prepared depends on its number of messages and blocks, each of which is
// a JSON object, and hardly on its size: a body of short messages takes forty times its size.
const (
	objectBytes = 1536 // for each object; measured with messages of a few letters
	roughShare  = 64   // of the room; below that a rough count is enough
)

// planning returns about how many bytes a body takes while it is prepared, besides its own size.
func planning(body []byte, limit int64) int64 {
	if n := int64(bytes.Count(body, []byte{'{'})) * objectBytes; n <= limit/roughShare {
		return n
	}
	return int64(objects(body)) * objectBytes
}

// objects returns how many objects a JSON text holds. Braces inside strings do not count.
func objects(text []byte) (n int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			n++
		case '"':
			i = stringEnd(text, i+1)
		}
	}
	return n
}

// stringEnd returns the index of the quote that ends a JSON string which begins at i.
func stringEnd(text []byte, i int) int {
	for i < len(text) && text[i] != '"' {
		if text[i] == '\\' {
			i++
		}
		i++
	}
	return i
}
