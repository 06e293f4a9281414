package analyst

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider/sandbox"
)

// passing reports whether a prompt asks whether an error is worth an investigation.
func passing(p *sandbox.Prompt) bool {
	return len(p.Tools) == 0 && slices.ContainsFunc(p.System, func(s string) bool { return strings.Contains(s, "worth an investigation") })
}

// pass says how severe an error is. A connection that somebody else has closed is not worth an investigation.
func (k *known) pass() (sandbox.Answer, error) {
	v := struct {
		Severity string `json:"severity"`
		Cause    string `json:"likely_cause"`
		Worth    bool   `json:"worth_investigating"`
	}{"medium", "A value that the code does not expect.", true}
	about := strings.ToLower(k.class + " " + k.message)
	switch {
	case strings.Contains(about, "connection re"):
		v.Severity, v.Cause, v.Worth = "low", "Another service has closed the connection.", false
	case len(k.frames) == 0:
		v.Severity, v.Cause = "low", "It is not in the program's own code."
	}
	b, err := json.Marshal(&v)
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: string(b)}}}, err
}
