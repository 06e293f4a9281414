package report

import (
	"io"
	"strings"
	"time"
)

// Archived is one conversation in the index of an archive.
type Archived struct {
	File     string
	Created  time.Time
	Lasted   time.Duration
	Messages int
	Tokens   int
	Project  string
	Model    string
	About    string // one line
}

// WriteArchive writes the index of an archive as a table in Markdown.
func WriteArchive(w io.Writer, rows []Archived) error {
	p := &printer{Writer: w}
	p.line("# Conversations")
	p.line("")
	p.line("%s. Each file holds all that was said, as a request of the API it is named for.", Count(len(rows), "conversation"))
	p.line("")
	p.line("| date | lasted | messages | tokens | project | model | about | file |")
	p.line("|---|---|---|---|---|---|---|---|")
	for i := range rows {
		r := &rows[i]
		p.line("| %s | %s | %s | %s | %s | %s | %s | [%s](%s) |", r.Created.UTC().Format(time.DateOnly), lasted(r.Lasted), Thousands(r.Messages), Thousands(r.Tokens),
			cell(r.Project), cell(r.Model), cell(r.About), cell(r.File), r.File)
	}
	return p.err
}

// cell makes text safe inside a table: what Markdown, HTML or a terminal would obey is text.
func cell(s string) string { return inCell.Replace(Visible(s)) }

var inCell = strings.NewReplacer("\n", " ", "\t", " ", `\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "!", `\!`, "&", "&amp;", "<", "&lt;", ">", "&gt;")

func lasted(d time.Duration) string {
	s := strings.TrimSuffix(d.String(), "0s")
	if s == "" {
		return "0m"
	}
	return s
}
