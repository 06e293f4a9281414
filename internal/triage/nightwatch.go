package triage

import "fmt"

// unneeded are the keys of Nightwatch that decant triage does not have, and why.
var unneeded = []struct{ name, why string }{
	{"NIGHTWATCH_MAX_ITERATIONS", "the class of an error says how many answers there are: 5, 7, 10 or 15; tokens_per_error is the limit that can be set"},
	{"NIGHTWATCH_THINKING_BUDGET", "the class of an error says how much is thought: thinking: true in the settings, or --thinking"},
}

// manual is the preset without summaries: as Nightwatch does where NIGHTWATCH_USE_COMPACTION is false.
const manual = "night-watch-manual"

// compaction takes what NIGHTWATCH_USE_COMPACTION says. True is what happens anyway: a model that can compact by itself is asked to, for any other it is done here.
func (s *Settings) compaction(getenv func(string) string) error {
	const name = "NIGHTWATCH_USE_COMPACTION"
	switch v := getenv(name); v {
	case "", "true":
	case "false":
		s.Preset = manual
	default:
		return fmt.Errorf("%s: %q is neither true nor false", name, v)
	}
	return nil
}

// refuse returns an error about a key of Nightwatch that asks for something that there is not.
func refuse(getenv func(string) string) error {
	for _, k := range unneeded {
		if v := getenv(k.name); v != "" {
			return fmt.Errorf("%s: %q cannot be had: %s", k.name, v, k.why)
		}
	}
	return nil
}
