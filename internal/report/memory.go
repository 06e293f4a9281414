package report

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// A Memory is something that is remembered, in a list.
type Memory struct {
	Tenant       string     `json:"tenant,omitempty"`
	ID           string     `json:"id"`
	Kind         string     `json:"kind"`
	State        string     `json:"state"`
	Scope        string     `json:"scope"` // "project /src/decant"
	Text         string     `json:"text"`
	Conversation string     `json:"conversation,omitempty"` // that it comes from
	Messages     string     `json:"messages,omitempty"`     // of it: "m3-m9"
	Times        int        `json:"confirmations"`
	Created      time.Time  `json:"created"`
	Confirmed    time.Time  `json:"confirmed"`
	Escalated    time.Time  `json:"escalated,omitzero"`
	Archived     time.Time  `json:"archived,omitzero"`
	Restored     time.Time  `json:"restored,omitzero"`
	Became       string     `json:"became,omitempty"` // id of the rule, or of what has corrected it
	From         string     `json:"from,omitempty"`   // id of the observation, or of what it corrects
	Evidence     []Evidence `json:"evidence,omitempty"`
}

// An Evidence is one occasion on which something was confirmed.
type Evidence struct {
	Conversation string    `json:"conversation,omitempty"`
	Messages     string    `json:"messages,omitempty"`
	Text         string    `json:"text"`
	Time         time.Time `json:"time"`
}

// WriteMemories writes a table of memories for people.
func WriteMemories(w io.Writer, ms []Memory, zone *time.Location) error {
	p := &printer{Writer: w}
	if len(ms) == 0 {
		p.line("nothing is remembered")
		return p.err
	}
	rows := [][]string{{"id", "kind", "state", "scope", "confirmed", "times", "text"}}
	for i := range ms {
		m := &ms[i]
		rows = append(rows, []string{m.ID, m.Kind, m.State, m.Scope, m.Confirmed.In(zone).Format(minute), Thousands(m.Times), m.Text})
	}
	align := "ffFLFRl"
	if slices.ContainsFunc(ms, func(m Memory) bool { return m.Tenant != ms[0].Tenant }) {
		rows[0] = append([]string{"tenant"}, rows[0]...)
		for i := range ms {
			rows[i+1] = append([]string{dash(ms[i].Tenant)}, rows[i+1]...)
		}
		align = "f" + align
	}
	p.table(rows, align)
	return p.err
}

// WriteText writes a memory with all that is known of it for people.
func (m *Memory) WriteText(w io.Writer, zone *time.Location) error {
	p := &printer{Writer: w}
	p.line("%s", m.Text)
	p.line("  %s %s, %s, %s%s", m.State, m.Kind, m.Scope, m.ID, m.owner())
	p.line("  saved %s%s", m.Created.In(zone).Format(minute), place(m.Conversation, m.Messages))
	for _, step := range []struct {
		what string
		at   time.Time
		more string
	}{
		{"became a rule", m.Escalated, named(m.Became)}, {"archived", m.Archived, m.corrected()}, {"restored", m.Restored, ""},
	} {
		if !step.at.IsZero() {
			p.line("  %s %s%s", step.what, step.at.In(zone).Format(minute), step.more)
		}
	}
	switch {
	case m.From != "" && m.Kind == "rule":
		p.line("  was the observation %s", m.From)
	case m.From != "":
		p.line("  corrects %s", m.From)
	}
	if m.Times > 0 {
		p.line("  %s%s", Count(m.Times, "confirmation"), m.shown())
	}
	for i := range m.Evidence {
		e := &m.Evidence[i]
		p.line("    %s%s: %s", e.Time.In(zone).Format(minute), place(e.Conversation, e.Messages), e.Text)
	}
	return p.err
}

// corrected names the item that has taken the place of this one, if one has.
func (m *Memory) corrected() string {
	if m.Became == "" || !m.Escalated.IsZero() {
		return ""
	}
	return ", corrected by " + m.Became
}

// owner names the tenant, if it has a name.
func (m *Memory) owner() string {
	if m.Tenant == "" {
		return ""
	}
	return ", tenant " + m.Tenant
}

// shown says how many of the confirmations are listed, if not all are.
func (m *Memory) shown() string {
	if m.Times == len(m.Evidence) {
		return ":"
	}
	return fmt.Sprintf(", the newest %d of them:", len(m.Evidence))
}

// place says where something was said.
func place(conversation, messages string) string {
	switch {
	case conversation == "":
		return ""
	case messages == "":
		return ", conversation " + conversation
	}
	return ", " + messages + " of conversation " + conversation
}

func named(id string) string {
	if id == "" {
		return ""
	}
	return ", " + id
}
