package wire

import (
	"strings"
	"testing"
)

func TestReadStopsAtItsLimit(t *testing.T) {
	if _, err := read(strings.NewReader("12345"), 4); err == nil || !strings.Contains(err.Error(), "larger than 4 bytes") {
		t.Errorf("got %v, want an error that names the limit", err)
	}
	if got, err := read(strings.NewReader("1234"), 4); string(got) != "1234" || err != nil {
		t.Errorf("got %q (error %v), want all of it", got, err)
	}
}
