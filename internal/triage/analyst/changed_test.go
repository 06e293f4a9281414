package analyst

import "testing"

// A limit that was lowered is one, whatever its unit; one that was raised, or another line, is none.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		was, is string
		want    bool
	}{
		{"timeout = 5", "timeout = 2", true}, {"timeout = 2", "timeout = 5", false}, {"dialTimeout = 3 * time.Second", "dialTimeout = 3 * time.Millisecond", true},
		{"dialTimeout = 3 * time.Millisecond", "dialTimeout = 3 * time.Second", false}, {`wait("4s")`, `wait("90ms")`, true}, {"timeout = 5", "retry = 2", false},
		{"self.settimeout(c.timeout)", "self.settimeout(c.retry)", true}, {"a(b)", "a(c)", false},
	} {
		if got := alike(c.was, c.is); got != c.want {
			t.Errorf("%q for %q: %v", c.is, c.was, got)
		}
	}
}
