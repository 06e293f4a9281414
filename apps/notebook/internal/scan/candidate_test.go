package scan

import "testing"

// An order that is about what is being done becomes no candidate by being said once; one that says it holds does.
func TestWhatPasses(t *testing.T) {
	for text, want := range map[string]bool{
		"Don't change anything, just let me know":                         true,
		"No, don't set it, let's see if it keeps happening":               true,
		"Look at the latest commit and make sure the line count is right": true,
		"Don't push for now":                  true,
		"Please don't touch this":             true,
		"Never change it without a test":      false,
		"Make sure that the tests pass":       false,
		"Remember that we use tabs":           false,
		"Don't commit generated files":        false,
		"From now on, run the tests this way": false,
		"Always show me the latest log":       false,
	} {
		if got := passes(text); got != want {
			t.Errorf("passes(%q) = %t", text, got)
		}
	}
}
