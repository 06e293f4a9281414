package scan

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/htmlpage"
)

// WriteText writes the report for a terminal.
func (r *Month) WriteText(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.title() + "\n")
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "\n%s\n", s.Title)
		width := 0
		for _, row := range s.Rows {
			if n := utf8.RuneCountInString(row[0]); n <= widest {
				width = max(width, n)
			}
		}
		for _, row := range s.Rows {
			if n := utf8.RuneCountInString(row[0]); n > widest {
				fmt.Fprintf(&b, "  %s\n      %s\n", row[0], row[1])
			} else {
				fmt.Fprintf(&b, "  %s%s  %s\n", row[0], strings.Repeat(" ", width-n), row[1])
			}
		}
		if s.Note != "" {
			fmt.Fprintf(&b, "  %s\n", s.Note)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// widest is the most columns of the left side of a line.
const widest = 34

// WriteMarkdown writes the report as Markdown.
func (r *Month) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", r.title())
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "\n## %s\n\n", s.Title)
		for _, row := range s.Rows {
			fmt.Fprintf(&b, "**%s:** %s  \n", escaped(row[0]), escaped(row[1]))
		}
		if s.Note != "" && len(s.Rows) > 0 {
			b.WriteString("\n")
		}
		if s.Note != "" {
			b.WriteString(s.Note + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escaped escapes text for Markdown.
func escaped(s string) string {
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "<", "&lt;", "[", "\\[", "|", "\\|").Replace(s)
}

//go:embed page.css
var pageStyle string

// WriteHTML writes the report as a page of its own, without scripts and without anything from elsewhere.
func (r *Month) WriteHTML(w io.Writer) error {
	var out htmlpage.Page
	out.Add(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
`, r.title())
	out.Style(pageStyle)
	out.Add("</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n", r.title())
	for _, s := range r.sections() {
		s.writeHTML(&out)
	}
	out.Raw("</main>\n</body>\n</html>\n")
	_, err := out.WriteTo(w)
	return err
}

// writeHTML writes a section as part of a page.
func (s *section) writeHTML(out *htmlpage.Page) {
	out.Add("<section>\n<h2>%s</h2>\n", s.Title)
	if len(s.Rows) > 0 {
		out.Raw("<table>\n")
		for _, row := range s.Rows {
			out.Add(`<tr><th scope="row">%s</th><td>%s</td></tr>`+"\n", row[0], row[1])
		}
		out.Raw("</table>\n")
	}
	if s.Note != "" {
		out.Add("<p>%s</p>\n", s.Note)
	}
	out.Raw("</section>\n")
}
