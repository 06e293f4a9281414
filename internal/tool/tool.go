// Package tool says what a tool call does, whichever agent made it and whatever it calls its tools.
//
// Agents read files through a tool named Read, read_file, view or simply through the shell, and the
// budget of a conversation hangs on knowing which is which. One table maps the names of real agents
// to classes; [Parse] looks into the arguments for what matters later (files and lines, queries,
// commands, payloads) and parses a shell command far enough to see the reads, searches, writes and
// test runs in it. [OutcomeOf] reads from a result how the call ended. Nothing here fails: what is
// not understood has class [Other], and text that is not understood has no outcome.
package tool

import "strings"

// Class is what sort of work a tool does.
type Class string

// The classes of tools.
const (
	Read   Class = "read"   // shows a file
	Write  Class = "write"  // makes a file or replaces all of it
	Edit   Class = "edit"   // changes a part of a file
	Delete Class = "delete" // removes a file
	Shell  Class = "shell"  // runs a command
	Search Class = "search" // finds files or lines: grep, glob, directory listings
	Web    Class = "web"    // fetches a page or asks a search engine
	Agent  Class = "agent"  // hands work to another agent
	Todo   Class = "todo"   // plans and task lists
	Other  Class = "other"
)

// A Call is what is known about one tool call.
type Call struct {
	Name   string // as the model called it
	Class  Class  // by the name of the tool
	Effect Class  // what it comes to: Class, but Read of a shell command that only reads, and so on

	Path        string // the file or directory that it is about, as the model wrote it
	First, Last int    // lines of Path that it shows, see Touch
	Query       string // pattern or question of a search
	URL         string
	Command     string // of a shell call, as the model wrote it
	Dir         string // working directory of a shell call, when the arguments name one
	Test        bool   // a shell call that runs tests
	Payload     int    // bytes that a write or edit carries in its arguments

	Files []Touch // files that it reads or changes, in order
}

// A Touch is one file that a call reads or changes.
type Touch struct {
	Class Class  // Read, Write, Edit or Delete
	Path  string // as the model wrote it
	From  string // of a Write: the file that was moved or copied here, as the model wrote it; else empty
	Key   string // Path cleaned, and absolute when the working directory is known: equal keys are one file

	// First and Last limit a read to lines, counted from 1 and inclusive; 0 means no limit at that
	// end. A negative First counts from the end of the file, as tail does.
	First, Last int
}

// whole reports whether t takes in the whole file.
func (t Touch) whole() bool { return t.First == 0 && t.Last == 0 }

// Covers reports whether everything that the read u showed is shown or replaced by t, a touch of
// the same file. A read from the end of a file is covered only by a whole one.
func (t Touch) Covers(u Touch) bool {
	if t.whole() || t.Class != Read {
		return true
	}
	if u.whole() || t.First < 0 || u.First < 0 {
		return t == u
	}
	return t.First <= max(u.First, 1) && (t.Last == 0 || u.Last != 0 && u.Last <= t.Last)
}

// Parse says what a call of the named tool with the given arguments does. The arguments are the
// JSON object that the model wrote, or the bare text of a tool that takes text.
func Parse(name, args string) Call {
	c := Call{Name: name, Class: ClassOf(name)}
	f := readFields(args)
	switch {
	case strings.Contains(args, "*** Begin Patch") && c.Class != Shell:
		c.Class = Edit
		c.Files = patchFiles(f.patch(args), "")
		c.Payload = len(args)
	case c.Class == Shell:
		c.shell(&f, args)
	default:
		c.file(&f)
	}
	if c.Effect == "" {
		c.Effect = c.Class
	}
	if c.Path == "" && len(c.Files) > 0 {
		t := c.Files[0]
		c.Path, c.First, c.Last = t.Path, t.First, t.Last
	}
	return c
}

// file fills in c from the arguments of a tool that is not a shell.
func (c *Call) file(f *fields) {
	c.Path, c.Query, c.URL = f.path, f.query, f.url
	if c.Class == Read || f.viewsFile() {
		c.First, c.Last = f.lines()
	}
	if f.editor() {
		c.Class = editorClass(f.command)
	}
	switch c.Class {
	case Read, Write, Edit, Delete:
		c.Payload = f.payload
		if f.from != "" && len(f.paths) == 1 {
			c.Files = moved("", f.from, f.paths[0])
			return
		}
		for _, p := range f.paths {
			c.Files = append(c.Files, Touch{Class: c.Class, Path: p, Key: key("", p), First: c.First, Last: c.Last})
		}
	case Web:
		if c.URL == "" {
			c.URL = f.path
			c.Path = ""
		}
	}
}

// editorClass is the class of one tool that views, creates and edits, by its command.
func editorClass(command string) Class {
	switch command {
	case "view":
		return Read
	case "create":
		return Write
	}
	return Edit
}

// shell fills in c from the arguments of a shell tool.
func (c *Call) shell(f *fields, args string) {
	c.Command, c.Dir = f.command, f.dir
	if c.Command == "" && !f.object {
		c.Command = args
	}
	if c.Command == "" {
		return
	}
	s := shellScript{dir: c.Dir}
	s.run(c.Command, 0)
	c.Files, c.Test, c.Effect = s.files, s.test, s.effect()
	if c.Effect == Search || c.Effect == Web {
		c.Path, c.Query, c.URL = s.path, s.query, s.url
	}
	for _, t := range c.Files {
		if t.Class != Read {
			c.Payload = len(c.Command)
		}
	}
}
