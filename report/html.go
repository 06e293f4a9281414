package report

import "io"

// WriteHTML writes a page.
func (r *Replay) WriteHTML(w io.Writer) error { _, err := io.WriteString(w, ""); return err }
