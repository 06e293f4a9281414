package secret

import (
	"testing"
)

// Where two ways lead to credentials that overlap, all of both is masked: neither the beginning of the first
// nor the end of the second stays in clear.
func TestCredentialsThatOverlap(t *testing.T) {
	// a password with an address in it, which has a password
	const url, behind = "x9postgres://u:Zx9kfj" + ",2Lm" + ";Q", "@db/x"
	for name, c := range map[string]struct{ in, want string }{
		"behind a flag": {"sshpass -p " + url + behind, "sshpass -p [redacted password]" + behind},
		"of a client":   {"mysql -p" + url + behind, "mysql -p[redacted password]" + behind},
		"behind a user": {"curl -u a:" + url + behind, "curl -u a:[redacted password]" + behind},
		"in a cookie":   {"Cookie: sid=" + url + behind, "Cookie: sid=[redacted cookie]" + behind},
		"twice": {"sshpass -p " + url + behind + " sshpass -p " + url + behind,
			"sshpass -p [redacted password]" + behind + " sshpass -p [redacted password]" + behind},
		"one in another":  {`DB_PASSWORD="ghp_` + pad + ` and more"`, `DB_PASSWORD="[redacted password]"`},
		"one is another":  {"API_TOKEN=ghp_" + pad + " x", "API_TOKEN=[redacted github-token] x"},
		"one behind one":  {"ghp_" + pad + ",ghp_" + pad, "[redacted github-token],[redacted github-token]"},
		"one and nothing": {"ghp_" + pad + "@db/x", "[redacted github-token]@db/x"},
	} {
		if got := Mask(c.in); got != c.want {
			t.Errorf("%s: %q becomes %q, want %q", name, c.in, got, c.want)
		}
	}
}

// Behind a name that may be that of anything, such as a key, a value is a credential when it has letters of
// both kinds and digits in an order that nobody would choose, however few different ones there are. A name, a
// hash and a number are none.
func TestValuesOfMiddlingRandomness(t *testing.T) {
	for name, c := range map[string]struct {
		value string
		found bool
	}{
		"16 characters":           {"Zx9kfj2LmQ7Rt4Wv", true}, // no more than 4 bits each, though all differ
		"thirteen different ones": {"aZ3kQ9xR7wM4p" + "aZ3kQ9xR7wM4p", true},
		"some that come again":    {"kQ9xkQ9x" + "R7wZR7wZ" + "mT4bmT4b", true},
		"32 characters":           {pad[:32], true},
		"few that come again":     {"aB1aB1aB1" + "aB1aB1aB1aB1", false},
		"too short":               {"Zx9kfj2LmQ7Rt4W", false},
		"no capital letters":      {"zx9kfj2lmq7rt4wv8n3p", false},
		"one capital letter":      {"Zx9kfj2lmq7rt4wv8n3p", false},
		"no small letters":        {"ZX9KFJ2LMQ7RT4WV8N3P", false},
		"one digit":               {"ZxkfjqLmQ7RtuWvbNspK", false},
		"a name":                  {"users/4711/HomeFolder2", false},
		"a name with dots":        {"Zx9kfj2L.mQ7Rt4Wv.aB3", false},
		"a hash":                  {"5f3e8d9c1b2a4f6e8d7c9b0a1f2e3d4c5b6a7f8e", false},
		"a sum":                   {"sha256-Zx9kfj2LmQ7Rt4WvaB3", false},
		"a public key":            {"AAAAB3NzaC1yc2EAAAADAQABAAABgQC7", false},
		"an example":              {"yourZx9kfj2LmQ7Rt4Wv", false},
	} {
		in := `{"row_key": "` + c.value + `"}`
		want := in
		if c.found {
			want = `{"row_key": "[redacted secret]"}`
		}
		if got := Mask(in); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
