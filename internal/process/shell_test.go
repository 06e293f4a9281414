package process

import "testing"

func TestShellWords(t *testing.T) {
	for in, want := range map[string]string{
		"/home/me/x-1.2": "/home/me/x-1.2", "/my files": "'/my files'", "it's": `'it'\''s'`, "$(rm)": "'$(rm)'", "": "''",
	} {
		if got := ShellWord(in); got != want {
			t.Errorf("%q is written %s, want %s", in, got, want)
		}
	}
}
