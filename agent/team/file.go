package team

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/yamltext"
)

// A File is a team as a YAML file holds it:
//
//	depth: 1
//	digest: 2000
//	members:
//	  - name: marco
//	    description: checks figures against their sources
//	    prompt: You check figures.
//	    tools: [read, grep]
//	    model: claude-haiku-5-5
//	    window: 60000
//	    turns: 20
//	    budget: {tokens: 200000, usd: 0.50}
//
// Each member needs a name and a description.
type File struct {
	Members []Member `yaml:"members"`
	Depth   int      `yaml:"depth"`  // see Options
	Digest  int      `yaml:"digest"` // see Options
}

// Parse reads a team from YAML. The name of the file is for errors, which name line and field.
func Parse(file string, data []byte) (*File, error) {
	var f File
	if err := yamltext.Unmarshal(data, &f, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("team %s: %s", file, humanize.YAMLError(err, true))
	}
	tree, err := yamltext.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("team %s: %s", file, humanize.YAMLError(err, true))
	}
	at := func(path string) string { return fmt.Sprintf("%s:%d", file, lineOf(tree, path)) }
	switch {
	case len(f.Members) == 0:
		return nil, fmt.Errorf("%s: members: there is none; each needs a name and a description", at("$"))
	case f.Depth < 0:
		return nil, fmt.Errorf("%s: depth: want 1 or more, not %d", at("$.depth"), f.Depth)
	case f.Digest != 0 && f.Digest < leastDigest:
		return nil, fmt.Errorf("%s: digest: want at least %d characters, not %d", at("$.digest"), leastDigest, f.Digest)
	}
	lines := map[string]string{}
	for i := range f.Members {
		m, path := &f.Members[i], fmt.Sprintf("$.members[%d]", i)
		m.place = at(path)
		if field, err := m.check(); err != nil {
			return nil, fmt.Errorf("%s: members[%d].%s: %w", at(path+"."+field), i, field, err)
		}
		if other, ok := lines[m.Name]; ok {
			return nil, fmt.Errorf("%s: members[%d].name: %s is the name of the member at %s, too", at(path+".name"), i, m.Name, other)
		}
		lines[m.Name] = m.place
	}
	return &f, nil
}

// lineOf returns the line of a node; where there is none, that of the node around it.
func lineOf(tree *ast.File, path string) int {
	for path != "" {
		p, err := yaml.PathString(path)
		if err != nil {
			return 1
		}
		if n, err := p.FilterFile(tree); err == nil && n != nil && n.GetToken() != nil {
			return n.GetToken().Position.Line
		}
		cut := bytes.LastIndexAny([]byte(path), ".[")
		if cut < 0 {
			return 1
		}
		path = path[:cut]
	}
	return 1
}
