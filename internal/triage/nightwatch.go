package triage

import "fmt"

// unneeded are the keys of seed 000 that decant triage does not have, the values that ask for what it does anyway, and why there is no other.
var unneeded = []struct{ name, fits, why string }{
	{"NIGHTWATCH_USE_COMPACTION", "true", "a model that can compact by itself is asked to (preset night-watch), any other is compacted here; there is no third way"},
	{"NIGHTWATCH_MAX_ITERATIONS", "", "the class of an error says how many answers there are: 5, 7, 10 or 15; tokens_per_error is the limit that can be set"},
	{"NIGHTWATCH_THINKING_BUDGET", "", "the class of an error says how much is thought: thinking: true in the settings, or --thinking"},
}

// refuse returns an error about a key of seed 000 that asks for something that there is not.
func refuse(getenv func(string) string) error {
	for _, k := range unneeded {
		if v := getenv(k.name); v != "" && v != k.fits {
			return fmt.Errorf("%s: %q cannot be had: %s", k.name, v, k.why)
		}
	}
	return nil
}
