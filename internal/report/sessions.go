package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A Session is a conversation of a store in a list.
type Session struct {
	Tenant      string    `json:"tenant,omitempty"`
	ID          string    `json:"id"`
	Session     string    `json:"session"`         // the client's own id
	Title       string    `json:"title,omitempty"` // the first words of its user
	Agent       string    `json:"agent"`
	Project     string    `json:"project"`
	Model       string    `json:"model"`
	Messages    int       `json:"messages"`
	Tokens      int       `json:"tokens"` // of everything that is kept
	Decisions   int       `json:"decisions"`
	Checkpoints int       `json:"checkpoints"`
	Requests    int       `json:"requests"`
	Spent       float64   `json:"spent_usd"`
	Saved       float64   `json:"saved_usd"` // negative: lost
	Pinned      bool      `json:"pinned"`
	Parent      string    `json:"parent,omitempty"` // that it was forked from
	Created     time.Time `json:"created"`
	Updated     time.Time `json:"updated"`
}

// WriteSessions writes a table of conversations for people, last changed first. Ids are cut to as
// much as tells them apart, unless whole is set, which also names agents and their sessions.
func WriteSessions(w io.Writer, sessions []Session, zone *time.Location, whole bool) error {
	p := &printer{Writer: w}
	if len(sessions) == 0 {
		p.line("no conversations yet: decant run -- claude starts one through Decant; --db FILE shows those of another database")
		return p.err
	}
	id := distinct(sessions)
	rows := [][]string{{"id", "title", "project", "model", "tokens", "spent", "saved", "last change"}}
	align := "flLLRrrf"
	if whole {
		id = 1000
		rows[0] = slices.Insert(rows[0], 1, "agent", "session")
		align = "fLflLLRrrf"
	}
	for i := range sessions {
		row := sessions[i].row(id, zone)
		if whole {
			row = slices.Insert(row, 1, dash(sessions[i].Agent), dash(sessions[i].Session))
		}
		rows = append(rows, row)
	}
	if several(sessions) {
		rows[0] = append([]string{"tenant"}, rows[0]...)
		for i := range sessions {
			rows[i+1] = append([]string{dash(sessions[i].Tenant)}, rows[i+1]...)
		}
		align = "f" + align
	}
	p.table(rows, align)
	return p.err
}

// several reports whether conversations belong to more than one tenant.
func several(sessions []Session) bool {
	return slices.ContainsFunc(sessions, func(s Session) bool { return s.Tenant != sessions[0].Tenant })
}

func (s *Session) row(id int, zone *time.Location) []string {
	return []string{
		s.ID[:min(id, len(s.ID))], dash(cut(s.Title, 40)), dash(base(s.Project)), dash(s.Model),
		Thousands(s.Tokens), usd(s.Spent), usd(s.Saved), s.Updated.In(zone).Format("2006-01-02 15:04") + pinMark(s.Pinned),
	}
}

func pinMark(pinned bool) string {
	if pinned {
		return ", kept"
	}
	return ""
}

// distinct returns how many characters tell all ids apart, at least eight.
func distinct(sessions []Session) int {
	for n := 8; ; n++ {
		seen := map[string]bool{}
		long := 0
		for i := range sessions {
			id := sessions[i].ID
			long = max(long, len(id))
			seen[id[:min(n, len(id))]] = true
		}
		if len(seen) == len(sessions) || n >= long {
			return n
		}
	}
}

// base returns the last element of a path.
func base(s string) string {
	s = strings.TrimRight(s, `/\`)
	return s[strings.LastIndexAny(s, `/\`)+1:]
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Status says in a few words what a session has come to.
func Status(spent, saved float64) string {
	if saved <= -0.005 { // less is no cent
		return fmt.Sprintf("decant: %s spent, %s lost", usd(spent), usd(-saved))
	}
	return fmt.Sprintf("decant: %s spent, %s saved", usd(spent), usd(max(0, saved)))
}
