package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Skill is a text about how to do something. A model is told its name and purpose, and reads it when it needs it.
type Skill struct {
	Name        string
	Description string
	Dir         string // its folder

	tree tree
	path string // of its folder
}

const (
	mostSkills     = 100
	mostSkillFiles = 50
	mostAbout      = 1024 // characters of a description
)

// typed matches the names of skills and commands.
var typed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN][\pL\pM\pN._-]{0,63}$`) })

// errName describes what typed matches.
func errName(name string) error {
	return fmt.Errorf("name %q: want letters, digits, dots, dashes, 64 at most", name)
}

// findSkills reads the front matter of the skills. The project's win over the user's.
func (p *Project) findSkills(own, theirs tree) {
	for _, dir := range []string{".decant/skills", ".claude/skills", ".agents/skills"} {
		p.addSkills(theirs, dir)
	}
	p.addSkills(own, "skills")
	slices.SortFunc(p.Skills, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
}

// addSkills adds the skills of a folder.
func (p *Project) addSkills(t tree, dir string) {
	err := t.within(func(files fs.FS) error {
		entries, err := fs.ReadDir(files, dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for _, e := range entries {
			p.addSkill(t, files, path.Join(dir, e.Name()))
		}
		return err
	})
	if err != nil {
		p.warn("%s is left out: %v", t.path(dir), err)
	}
}

// addSkill adds the skill of a folder, if it is one.
func (p *Project) addSkill(t tree, files fs.FS, dir string) {
	file := path.Join(dir, "SKILL.md")
	text, err := readText(files, file)
	if errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(path.Base(dir), ".") {
		return
	}
	var m map[string]string
	if err == nil {
		m, _, err = front(text)
	}
	s := Skill{Name: cmp.Or(m["name"], path.Base(dir)), Description: m["description"], Dir: t.path(dir), tree: t, path: dir}
	switch {
	case err != nil:
	case !typed().MatchString(s.Name):
		err = errName(s.Name)
	case s.Description == "":
		err = errors.New("it has no description")
	case utf8.RuneCountInString(s.Description) > mostAbout:
		err = fmt.Errorf("its description is longer than %d characters", mostAbout)
	case len(p.Skills) == mostSkills:
		err = fmt.Errorf("there are more than %d skills", mostSkills)
	case slices.ContainsFunc(p.Skills, func(o Skill) bool { return o.Name == s.Name }):
		return
	}
	if err != nil {
		p.warn("%s is left out: %v", t.path(file), err)
		return
	}
	p.Skills = append(p.Skills, s)
}

// Read returns the text of the skill, and the names of the other files in its folder.
func (s *Skill) Read() (text string, files []string, err error) {
	err = s.tree.within(func(tree fs.FS) error {
		if text, err = readText(tree, path.Join(s.path, "SKILL.md")); err != nil {
			return err
		}
		if _, text, err = front(text); err != nil {
			return err
		}
		return fs.WalkDir(tree, s.path, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil || len(files) == mostSkillFiles:
				return fs.SkipAll // a file that cannot be listed is one that nobody needs to be told of
			case !e.IsDir() && path.Base(name) != "SKILL.md":
				files = append(files, strings.TrimPrefix(name, s.path+"/"))
			}
			return nil
		})
	})
	if err != nil {
		return "", nil, fmt.Errorf("skill %s: %w", s.Name, err)
	}
	return text, files, nil
}
