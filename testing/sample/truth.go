package sample

import (
	"fmt"
	"io/fs"

	"github.com/goccy/go-yaml"
)

// A Defect is the root cause of errors of a sample, against which tests hold a finding. Nothing that investigates may use
// it.
type Defect struct {
	Name    string   `yaml:"name"`
	Kind    string   `yaml:"kind"`              // such as "nil", "off by one", "swapped argument", "missing key", "timeout", "transient"
	Repo    string   `yaml:"repo"`              // where it is
	Release string   `yaml:"release"`           // the first one that has it
	File    string   `yaml:"file,omitempty"`    // empty, with Line and Text: no code is wrong
	Line    int      `yaml:"line,omitempty"`    // in File at the release of the newest of the events
	Text    string   `yaml:"text,omitempty"`    // of that line, without spaces at its ends
	Commit  string   `yaml:"commit,omitempty"`  // the full SHA of the one that brought it; empty: it was always there, or no code is wrong
	Suspect []string `yaml:"suspect,omitempty"` // commits that look guilty and are not
	Cause   string   `yaml:"cause"`             // in words
	Events  []string `yaml:"events"`            // their ids
	Related string   `yaml:"related,omitempty"` // another defect in the same module
}

// Defects returns the defects of a sample, from truth.yaml in its folder.
func Defects(sample fs.FS) ([]Defect, error) {
	data, err := fs.ReadFile(sample, "truth.yaml")
	if err != nil {
		return nil, err
	}
	var all struct {
		Defects []Defect `yaml:"defects"`
	}
	if err := yaml.UnmarshalWithOptions(data, &all, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("truth.yaml: %w", err)
	}
	return all.Defects, nil
}
