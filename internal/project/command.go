package project

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A Command is a text that the user sends by a name.
type Command struct {
	Name  string // without the slash
	About string // in a few words
	Hint  string // what its arguments are, such as "[issue]"
	File  string
	Text  string // with places for arguments
	Own   bool   // it is the user's, not the project's
}

const mostCommands = 200

// findCommands reads the commands. The project's win over the user's.
func (p *Project) findCommands(own, theirs tree) {
	for _, dir := range []string{".decant/commands", ".claude/commands"} {
		p.addCommands(theirs, dir)
	}
	p.addCommands(own, "commands")
	slices.SortFunc(p.Commands, func(a, b Command) int { return cmp.Compare(a.Name, b.Name) })
}

// addCommands adds the commands of a folder and its subfolders.
func (p *Project) addCommands(t tree, dir string) {
	err := t.within(func(files fs.FS) error {
		return fs.WalkDir(files, dir, func(name string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return fs.SkipAll
			case err != nil:
				return err
			case !e.IsDir() && path.Ext(name) == ".md":
				p.addCommand(t, files, name)
			}
			return nil
		})
	})
	if err != nil {
		p.warn("%s is left out: %v", t.path(dir), err)
	}
}

// addCommand adds one command.
func (p *Project) addCommand(t tree, files fs.FS, name string) {
	var m map[string]string
	called := strings.TrimSuffix(path.Base(name), ".md")
	text, err := readText(files, name)
	if err == nil {
		m, text, err = front(text)
	}
	switch {
	case err != nil:
	case !typed().MatchString(called):
		err = errName(called)
	case text == "":
		err = errors.New("it says nothing")
	case len(p.Commands) == mostCommands:
		err = errors.New("there are too many commands")
	}
	if err != nil {
		p.warn("%s is left out: %v", t.path(name), err)
		return
	}
	c := Command{Name: called, About: m["description"], Hint: m["argument-hint"], File: t.path(name), Text: text, Own: t.user}
	if c.About == "" {
		c.About, _, _ = strings.Cut(strings.TrimLeft(text, "# "), "\n")
	}
	if i := slices.IndexFunc(p.Commands, func(o Command) bool { return o.Name == c.Name }); i >= 0 {
		p.warn("%s is left out: /%s is %s", c.File, c.Name, p.Commands[i].File)
		return
	}
	p.Commands = append(p.Commands, c)
}

var places = lazyregexp.New(`\$(ARGUMENTS\b|[1-9])`)

// Say returns the text with arguments filled in: $ARGUMENTS is all of them, $1 to $9 are single words. A text
// without places gets them at its end.
func (c *Command) Say(arguments string) string {
	arguments = strings.TrimSpace(arguments)
	words := strings.Fields(arguments)
	placed := false
	out := places.ReplaceAllStringFunc(c.Text, func(place string) string {
		placed = true
		if place == "$ARGUMENTS" {
			return arguments
		}
		if n := int(place[1] - '1'); n < len(words) {
			return words[n]
		}
		return ""
	})
	if !placed && arguments != "" {
		out += "\n\nARGUMENTS: " + arguments
	}
	return out
}
