package report

import (
	"io"
	"slices"
	"strings"
	"time"
)

// A Session is a conversation of a store in a list.
type Session struct {
	Tenant      string    `json:"tenant,omitempty"`
	ID          string    `json:"id"`
	Session     string    `json:"session"` // the client's own id
	Agent       string    `json:"agent"`
	Project     string    `json:"project"`
	Model       string    `json:"model"`
	Messages    int       `json:"messages"`
	Tokens      int       `json:"tokens"` // of everything that is kept
	Decisions   int       `json:"decisions"`
	Checkpoints int       `json:"checkpoints"`
	Requests    int       `json:"requests"`
	Pinned      bool      `json:"pinned"`
	Parent      string    `json:"parent,omitempty"` // that it was forked from
	Created     time.Time `json:"created"`
	Updated     time.Time `json:"updated"`
}

// WriteSessions writes a table of conversations for people, last changed first. Ids are cut to as
// much as tells them apart, and sessions to their beginning, unless whole is set.
func WriteSessions(w io.Writer, sessions []Session, zone *time.Location, whole bool) error {
	p := &printer{Writer: w}
	if len(sessions) == 0 {
		p.line("no conversations")
		return p.err
	}
	id, session := distinct(sessions), 12
	if whole {
		id, session = 1000, 1000
	}
	rows := [][]string{{"id", "session", "agent", "project", "model", "messages", "tokens", "checkpoints", "last change"}}
	for i := range sessions {
		rows = append(rows, sessions[i].row(id, session, zone))
	}
	align := "flLLLRrRf"
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

func (s *Session) row(id, session int, zone *time.Location) []string {
	return []string{
		s.ID[:min(id, len(s.ID))], dash(cut(s.Session, session)), dash(s.Agent), dash(base(s.Project)), dash(s.Model),
		Thousands(s.Messages), Thousands(s.Tokens), Thousands(s.Checkpoints), s.Updated.In(zone).Format("2006-01-02 15:04") + pinMark(s.Pinned),
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
