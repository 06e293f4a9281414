package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Detailed is implemented by the struct of a command that needs more help than its tag has room for.
type Detailed interface {
	// Help returns paragraphs. A paragraph is wrapped to the width of the terminal unless it is indented.
	Help() string
}

// WriteHelp writes the help of a command for a terminal with so many columns.
func (c *Command) WriteHelp(w io.Writer, columns int) error {
	p := &helpText{columns: columns}
	p.printf("Usage: %s\n", c.usage())
	if c.Help != "" {
		p.paragraph(c.Help)
	}
	if d, ok := c.Target().(Detailed); ok {
		for part := range strings.SplitSeq(d.Help(), "\n\n") {
			p.paragraph(part)
		}
	}
	if c.Example != "" {
		p.printf("\nExample:\n  %s\n", c.Example)
	}
	c.writeArguments(p)
	c.writeFlags(p)
	c.writeCommands(p)
	_, err := io.WriteString(w, p.String())
	return err
}

// usage returns the form of the command line.
func (c *Command) usage() string {
	out := c.Path()
	if len(c.Commands()) > 0 {
		return out + " <command>"
	}
	for _, a := range c.Arguments() {
		out += " " + a.argumentForm()
	}
	if len(c.Flags()) > 0 {
		out += " [flags]"
	}
	return out
}

func (c *Command) writeArguments(p *helpText) {
	var rows [][2]string
	for _, a := range c.Arguments() {
		rows = append(rows, [2]string{a.argumentForm(), a.Help})
	}
	p.table("Arguments:", rows)
}

func (c *Command) writeFlags(p *helpText) {
	var rows [][2]string
	for _, f := range c.Flags() {
		left := "    --" + f.form()
		if f.Short != "" {
			left = "-" + f.Short + ", --" + f.form()
		}
		rows = append(rows, [2]string{left, f.Help})
	}
	p.table("Flags:", append(rows, [2]string{"-h, --help", "Show this help."}))
}

// writeCommands lists the commands below this one under their headings.
func (c *Command) writeCommands(p *helpText) {
	var groups []string
	rows := map[string][][2]string{}
	for _, sub := range c.Commands() {
		if sub.Hidden {
			continue
		}
		if !slices.Contains(groups, sub.Group) {
			groups = append(groups, sub.Group)
		}
		name := sub.Name
		if sub.Alias != "" {
			name += " (" + sub.Alias + ")"
		}
		rows[sub.Group] = append(rows[sub.Group], [2]string{name, sub.Help})
	}
	for _, g := range groups {
		heading := g
		if heading == "" {
			heading = "Commands:"
		}
		p.table(heading, rows[g])
	}
	if len(groups) > 0 {
		p.printf("\nRun \"%s <command> --help\" for more about a command.\n", c.Path())
	}
}

// argumentForm returns how usage shows an argument.
func (p *Param) argumentForm() string {
	out := p.label()
	if p.isList() {
		out += " ..."
	}
	if p.Optional || p.def != nil {
		out = "[" + out + "]"
	}
	return out
}

// form returns how help shows a flag, behind its hyphens.
func (p *Param) form() string {
	value := p.Placeholder
	switch {
	case p.isSwitch():
		return p.Name
	case value == "" && p.def != nil && *p.def != "":
		value = *p.def
	case value == "":
		value = "VALUE"
	}
	if _, optional := p.value.Addr().Interface().(OptionalValue); optional {
		return p.Name + "[=" + value + "]"
	}
	return p.Name + "=" + value
}

// helpText is a help text that is being written.
type helpText struct {
	strings.Builder
	columns int
}

func (p *helpText) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// paragraph writes text after an empty line.
func (p *helpText) paragraph(text string) {
	p.WriteString("\n")
	if strings.HasPrefix(text, " ") {
		p.WriteString(text + "\n")
		return
	}
	for _, line := range wrapped(text, p.columns) {
		p.WriteString(line + "\n")
	}
}

// widestLeft is the most columns of the left side of a table. A longer entry has a line of its own.
const widestLeft = 28

// table writes names with their descriptions under a heading, and nothing if there are none.
func (p *helpText) table(heading string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	p.printf("\n%s\n", heading)
	left := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r[0]); n <= widestLeft {
			left = max(left, n)
		}
	}
	for _, r := range rows {
		lines := wrapped(r[1], p.columns-left-4)
		n := utf8.RuneCountInString(r[0])
		p.WriteString("  " + r[0])
		if n > left {
			p.WriteString("\n")
		}
		for i, line := range lines {
			pad := left + 4
			if i == 0 && n <= left {
				pad = left - n + 2
			}
			p.printf("%*s%s\n", pad, "", line)
		}
		if len(lines) == 0 && n <= left {
			p.WriteString("\n")
		}
	}
}

// wrapped breaks text into lines of at most so many columns. Longer words stay whole.
func wrapped(text string, columns int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
