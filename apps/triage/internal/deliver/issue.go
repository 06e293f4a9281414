package deliver

import (
	"fmt"
	"strings"
)

// A Track says how often findings with high confidence were right, as far as people have judged them.
type Track struct {
	Judged int `json:"judged"` // findings with high confidence that were judged
	Right  int `json:"right"`
}

// String says it in a sentence; empty where nothing was judged.
func (t Track) String() string {
	if t.Judged == 0 {
		return ""
	}
	were := "were"
	if t.Right == 1 {
		were = "was"
	}
	return fmt.Sprintf("Of %s with high confidence that were judged so far, %d %s right.", count(t.Judged, "finding"), t.Right, were)
}

// Body returns what the report says of an error as Markdown for an issue: without the heading, in which the number is that of the run.
func (e *ReportedError) Body() string {
	var b strings.Builder
	e.markdown(&b)
	_, text, _ := strings.Cut(b.String(), "\n\n")
	return strings.TrimSpace(text)
}

// Fence returns text as a block of code of Markdown, which nothing in it can end.
func Fence(text string) string { return fence(text) }

// Plain returns text that is no markup, on one line.
func Plain(text string) string { return plain(text) }

// Happened says how often an error has happened.
func (e *ReportedError) Happened() string { return happened(e) }

// Verdict says what came of the investigation of an error.
func (e *ReportedError) Verdict() string {
	if e.Finding == nil {
		return "Not investigated"
	}
	return verdict(e.Finding)
}
