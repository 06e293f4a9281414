// Package ticket holds what people ask for.
package ticket

import (
	"github.com/acme/desk/internal/people"
	"github.com/acme/desk/internal/report"
)

// A Ticket is one thing that somebody asks for.
type Ticket struct {
	ID    string
	Owner *people.Person
	Tags  []string
	Next  *Ticket
}

// A Desk holds tickets.
type Desk struct {
	all  []*Ticket
	byID map[string]*Ticket
	who  *people.Directory
}

// Find returns a ticket, nil for none.
func (d *Desk) Find(id string) *Ticket {
	if t, ok := d.byID[id]; ok {
		return t
	}
	return nil
}

// Add takes a ticket.
func (d *Desk) Add(t *Ticket) {
	d.all = append(d.all, t)
	d.byID[t.ID] = t
}

// Title says what a ticket is about.
func (d *Desk) Title(id string) string {
	t := d.Find(id)
	if t == nil {
		return "no ticket"
	}
	return t.ID + " " + d.Login(t)
}

// Login returns whose ticket it is.
func (d *Desk) Login(t *Ticket) string {
	owner := t.Owner
	if owner == nil {
		return "nobody"
	}
	return owner.Login
}

// Following returns the id of the ticket behind another one.
func (d *Desk) Following(id string) string {
	t := d.Find(id)
	if t == nil {
		return ""
	}
	next := t.Next
	if next == nil {
		return ""
	}
	return next.ID
}

// At returns the tag at a place.
func (d *Desk) At(t *Ticket, n int) string {
	if n >= len(t.Tags) {
		return ""
	}
	return t.Tags[n]
}

// Count returns how many tickets have an owner.
func (d *Desk) Count() (n int) {
	for i := 0; i < len(d.all); i++ {
		if d.all[i].Owner != nil {
			n++
		}
	}
	return n
}

// Assign gives a ticket to somebody.
func (d *Desk) Assign(id, login string) error {
	t := d.Find(id)
	if t == nil {
		return report.Errorf("UnknownTicket", "there is no ticket %q", id)
	}
	t.Owner = d.who.Find(login)
	return nil
}

// Merge puts the tags of a ticket into another one, which is the older one.
func (d *Desk) Merge(older, newer *Ticket) error {
	if older.ID > newer.ID {
		return report.Errorf("BadMerge", "%s is newer than %s", older.ID, newer.ID)
	}
	older.Tags = append(older.Tags, newer.Tags...)
	return nil
}
