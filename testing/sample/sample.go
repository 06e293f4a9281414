package sample

import (
	"bufio"
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/source"
)

// bundled leaves out truth.yaml: no program knows it.
//
//go:embed shop/sample.yaml shop/events.jsonl shop/repos shop/runbooks
var bundled embed.FS

// A Sample is programs, their history, and their errors.
type Sample struct {
	Name string    // a single word
	Now  time.Time // at which it is looked at

	repos []repo
	files fs.FS
	dir   string // of the files; empty: they are in the program
}

// A repo is one of sample.yaml.
type repo struct {
	Name     string         `yaml:"name"`
	Patches  string         `yaml:"patches"`
	Dir      string         `yaml:"dir"`
	Services []string       `yaml:"services"`
	Paths    []code.Mapping `yaml:"paths"`
	Tags     map[string]int `yaml:"tags"`
	Tag      string         `yaml:"tag"`
	Build    []string       `yaml:"build"`
	Test     []string       `yaml:"test"`
}

// Bundled returns the sample that is part of the program.
func Bundled() (*Sample, error) {
	files, err := fs.Sub(bundled, "shop")
	if err != nil {
		return nil, err
	}
	return open(files, "")
}

// Open returns the sample of a folder. An error names the file that is wrong.
func Open(dir string) (*Sample, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the sample: %w", err)
	}
	s, err := open(root.FS(), dir)
	if err != nil {
		return nil, fmt.Errorf("sample %s: %w", dir, errors.Join(err, root.Close()))
	}
	return s, nil
}

func open(files fs.FS, dir string) (*Sample, error) {
	data, err := fs.ReadFile(files, "sample.yaml")
	if err != nil {
		return nil, err
	}
	var head struct {
		Name  string    `yaml:"name"`
		Now   time.Time `yaml:"now"`
		Repos []repo    `yaml:"repos"`
	}
	if err := yaml.UnmarshalWithOptions(data, &head, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("sample.yaml: %s", yaml.FormatError(err, false, true))
	}
	s := &Sample{Name: head.Name, Now: head.Now, repos: head.Repos, files: files, dir: dir}
	if about, err := s.check(data); err != nil {
		return nil, fmt.Errorf("sample.yaml:%d: %w", lineOf(data, about), err)
	}
	return s, nil
}

// lineOf returns the first line that has a text, 1 where none has it.
func lineOf(data []byte, text string) int {
	i := bytes.Index(data, []byte(text))
	if i < 0 {
		return 1
	}
	return 1 + bytes.Count(data[:i+len(text)], []byte("\n"))
}

// check returns what is wrong with sample.yaml, and the text there that it is about.
func (s *Sample) check(data []byte) (about string, err error) {
	switch {
	case !plainName.MatchString(s.Name):
		return "name:", fmt.Errorf("name is a word of letters, digits and -: %q", s.Name)
	case s.Now.IsZero() && lineOf(data, "\nnow:") > 1:
		return "\nnow:", errors.New("now is no time such as 2026-11-20T06:00:00Z")
	case s.Now.IsZero():
		return "now:", errors.New("now is missing: the time at which the sample is looked at, such as 2026-11-20T06:00:00Z")
	case len(s.repos) == 0:
		return "repos:", errors.New("repos is missing")
	}
	for _, r := range s.repos {
		if err := s.checkRepo(&r); err != nil {
			return cmp.Or(r.Name, "repos:"), err
		}
	}
	return "", nil
}

// checkRepo returns what is wrong with a repository.
func (s *Sample) checkRepo(r *repo) error {
	switch {
	case r.Name == "":
		return errors.New("a repository has no name")
	case (r.Patches == "") == (r.Dir == ""):
		return fmt.Errorf("repository %s: name either patches or dir: its folder of patches (repos/NAME), or a clone", r.Name)
	case r.Patches != "" && !fs.ValidPath(r.Patches):
		return fmt.Errorf("repository %s: patches is a folder below that of the sample: %q", r.Name, r.Patches)
	case r.Dir != "" && s.dir == "":
		return fmt.Errorf("repository %s: dir needs a sample in a folder", r.Name)
	}
	for tag := range r.Tags {
		if !plainTag.MatchString(tag) {
			return fmt.Errorf("repository %s: %q is no name for a tag", r.Name, tag)
		}
	}
	return nil
}

// Events returns the errors, as events.jsonl has them.
func (s *Sample) Events() (out []source.Event, err error) {
	data, err := fs.ReadFile(s.files, "events.jsonl")
	if err != nil {
		return nil, err
	}
	in := bufio.NewScanner(bytes.NewReader(data))
	in.Buffer(nil, 4<<20)
	for n := 1; in.Scan(); n++ {
		var e source.Event
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		err := json.Unmarshal(in.Bytes(), &e, json.RejectUnknownMembers(true))
		switch {
		case err != nil:
		case e.Time.IsZero():
			err = errors.New("time is missing, such as 2026-11-19T18:17:00Z")
		case e.Class == "" && e.Message == "":
			err = errors.New("class and message are missing: one of them must be there")
		}
		if err != nil {
			return nil, fmt.Errorf("events.jsonl:%d: %w", n, err)
		}
		out = append(out, e)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("events.jsonl: %w", err)
	}
	return out, nil
}

// Services returns the repositories by the services whose code they have.
func (s *Sample) Services() map[string]string {
	out := map[string]string{}
	for _, r := range s.repos {
		for _, service := range r.Services {
			out[service] = r.Name
		}
	}
	return out
}

// Mapped returns the repositories as a service has them that knows their history: without folders.
func (s *Sample) Mapped() (out []code.Repo) {
	for _, r := range s.repos {
		out = append(out, code.Repo{Name: r.Name, Paths: r.Paths, Tag: r.Tag, Build: r.Build, Test: r.Test})
	}
	return out
}

// Runbooks returns the runbooks, none where there is no such folder.
func (s *Sample) Runbooks() ([]code.Runbook, error) {
	dir, err := fs.Sub(s.files, "runbooks")
	if err != nil {
		return nil, err
	}
	return code.Runbooks(dir)
}

// Repos returns the repositories. Those that are patches are made in a folder when they are first asked for, and found there later; what is there of other
// patches is left alone. It needs git.
func (s *Sample) Repos(folder string) (out []code.Repo, err error) {
	for _, r := range s.repos {
		dir := r.Dir
		switch {
		case r.Patches != "":
			if dir, err = s.build(folder, r); err != nil {
				return nil, fmt.Errorf("make the repository %s: %w", r.Name, err)
			}
		case !filepath.IsAbs(dir):
			dir = filepath.Join(s.dir, dir)
		}
		out = append(out, code.Repo{Name: r.Name, Dir: dir, Paths: r.Paths, Tag: r.Tag, Build: r.Build, Test: r.Test})
	}
	return out, nil
}
