package team

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/plainfile"
	"github.com/decantdev/decant/internal/yamltext"
)

// ParseMarkdown reads a member from a file with front matter, as coding agents use them (.claude/agents/NAME.md): name, description,
// tools (a list, or names with commas between them) and model are read, and what stands behind the front matter is the prompt. Other
// keys are those of other programs and are skipped. A tool that the coordinator does not have is left out (Team.Notes).
func ParseMarkdown(file string, data []byte) (Member, error) {
	front, prompt, err := cutFront(data)
	if err != nil {
		return Member{}, fmt.Errorf("%s: %w", file, err)
	}
	var head struct {
		Name        string    `yaml:"name"`
		Description string    `yaml:"description"`
		Tools       toolNames `yaml:"tools"`
		Model       string    `yaml:"model"`
	}
	if err := yamltext.Unmarshal(front, &head); err != nil {
		return Member{}, fmt.Errorf("%s: %s", file, humanize.YAMLError(err, true))
	}
	m := Member{Name: head.Name, Description: head.Description, Tools: head.Tools, Model: head.Model, Prompt: strings.TrimSpace(string(prompt)),
		place: file, loose: true}
	if m.Name == "" {
		m.Name = strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	if field, err := m.check(); err != nil {
		return Member{}, fmt.Errorf("%s:%d: %s: %w", file, frontLine(front, field), field, err)
	}
	return m, nil
}

// frontLine returns the line of a key of the front matter, the first one where it is missing.
func frontLine(front []byte, key string) int {
	for i, line := range bytes.Split(front, []byte{'\n'}) {
		if bytes.HasPrefix(line, []byte(key+":")) {
			return i + 1
		}
	}
	return 1
}

// fence is the line before and behind front matter.
const fence = "---"

// cutFront cuts a file into its front matter and what stands behind it. The front matter keeps an empty line for the first fence, so
// that its lines have the numbers that they have in the file.
func cutFront(data []byte) (front, rest []byte, err error) {
	lines := strings.SplitAfter(strings.TrimPrefix(string(data), "\ufeff"), "\n")
	if strings.TrimRight(lines[0], " \t\r\n") != fence {
		return nil, nil, errors.New("line 1: it must be --- and begin the front matter, with name and description")
	}
	for i, line := range lines[1:] {
		if strings.TrimRight(line, " \t\r\n") == fence {
			return []byte("\n" + strings.Join(lines[1:1+i], "")), []byte(strings.Join(lines[2+i:], "")), nil
		}
	}
	return nil, nil, errors.New("the front matter has no end: a line --- is missing")
}

// toolNames are names in a list, or with commas between them.
type toolNames []string

// UnmarshalYAML reads either form.
func (t *toolNames) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if unmarshal(&text) != nil {
		return unmarshal((*[]string)(t))
	}
	*t = toolNames{}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			*t = append(*t, name)
		}
	}
	if slices.Equal(*t, toolNames{"*"}) {
		*t = nil
	}
	return nil
}

// mostMember is how many bytes a file may have.
const mostMember = 1 << 20

// ReadDir reads the members of a directory: each file whose name ends with .md is one.
func ReadDir(fsys fs.FS, dir string) (out []Member, err error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("read the members in %s: %w", dir, err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.IsDir() || path.Ext(name) != ".md" {
			continue
		}
		data, err := plainfile.ReadFS(fsys, name, mostMember)
		if err != nil {
			return nil, fmt.Errorf("read the member in %s: %w", name, err)
		}
		m, err := ParseMarkdown(name, data)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
