package report

import (
	"fmt"
	"io"
	"time"
)

// A Collection is what was removed from a store.
type Collection struct {
	DryRun  bool      `json:"dry_run"` // it would have been removed
	Removed []Session `json:"removed"` // longest unchanged first
	Left    int       `json:"left"`    // conversations
	Pinned  int       `json:"pinned"`  // due, but kept because pinned
	Shared  int       `json:"shared"`  // due, but kept because a fork begins with them
	Blobs   int       `json:"blobs"`
	Bytes   int64     `json:"bytes"` // of those blobs, as stored

	Memories int `json:"memories"` // removed with their conversation
	Journals int `json:"journals"` // of sessions of agents, removed with their conversation
}

// WriteText writes what was removed for people.
func (c *Collection) WriteText(w io.Writer, zone *time.Location) error {
	p := &printer{Writer: w}
	verb := "removed"
	if c.DryRun {
		verb = "would remove"
	}
	if c.Memories > 0 {
		p.line("%s %s", verb, Count(c.Memories, "item")+" of memory")
	}
	if c.Journals > 0 {
		p.line("%s %s", verb, plural(c.Journals, "journal")+" of agents")
	}
	if len(c.Removed) == 0 && c.Memories == 0 && c.Journals == 0 {
		p.line("nothing to remove, %s kept%s", plural(c.Left, "conversation"), c.kept())
		return p.err
	}
	p.line("%s %s with %s of blocks, %s left%s", verb, plural(len(c.Removed), "conversation"), Bytes(c.Bytes), Thousands(c.Left), c.kept())
	const most = 20
	for i := range c.Removed {
		if s := &c.Removed[i]; i < most {
			p.line("  %s  %s%s, last change %s", s.ID, tenantMark(s.Tenant), plural(s.Messages, "message"), s.Updated.In(zone).Format("2006-01-02 15:04"))
		}
	}
	if n := len(c.Removed) - most; n > 0 {
		p.line("  and %s more: --json lists them", Thousands(n))
	}
	return p.err
}

// tenantMark names the tenant that a conversation belongs to, if it has a name.
func tenantMark(tenant string) string {
	if tenant == "" {
		return ""
	}
	return "of " + tenant + ": "
}

func (c *Collection) kept() (out string) {
	if c.Pinned > 0 {
		out += fmt.Sprintf("; %d due, but kept", c.Pinned)
	}
	if c.Shared > 0 {
		out += fmt.Sprintf("; %d due, but a fork begins with them", c.Shared)
	}
	return out
}

// plural writes a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Thousands(n) + " " + thing + "s"
}

// Bytes writes a number of bytes for people: 950 bytes, 8.1 KB, 3.2 MB.
func Bytes(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return plural(int(n), "byte")
}
