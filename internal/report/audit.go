package report

import (
	"io"
	"strconv"
	"strings"
	"time"
)

// A Key is a tenant's key in a list: what may be shown of it.
type Key struct {
	ID      string    `json:"id"`
	Tenant  string    `json:"tenant"`
	Note    string    `json:"note"`
	Created time.Time `json:"created"`
	Revoked time.Time `json:"revoked,omitzero"`
	Limits  []string  `json:"limits"`
}

// minute is how a moment is written in lists.
const minute = "2006-01-02 15:04"

// WriteKeys writes a table of keys for people.
func WriteKeys(w io.Writer, keys []Key, zone *time.Location) error {
	p := &printer{Writer: w}
	if len(keys) == 0 {
		p.line("no keys: \"decant key add TENANT\" makes one")
		return p.err
	}
	rows := [][]string{{"id", "tenant", "made", "state", "limits", "note"}}
	for i := range keys {
		k, state := &keys[i], "in force"
		if !k.Revoked.IsZero() {
			state = "revoked " + k.Revoked.In(zone).Format(minute)
		}
		rows = append(rows, []string{k.ID, Visible(k.Tenant), k.Created.In(zone).Format(minute), state, dash(strings.Join(k.Limits, ", ")), Visible(k.Note)})
	}
	p.table(rows, "fffflL")
	return p.err
}

// An Act is an entry of the audit log.
type Act struct {
	Number int64     `json:"number"`
	Time   time.Time `json:"time"`
	Actor  string    `json:"actor"`
	Action string    `json:"action"`
	Tenant string    `json:"tenant"`
	Target string    `json:"target"`
	Detail string    `json:"detail"`
}

// WriteActs writes the audit log for people, oldest first.
func WriteActs(w io.Writer, acts []Act, zone *time.Location) error {
	p := &printer{Writer: w}
	if len(acts) == 0 {
		p.line("nothing was done yet")
		return p.err
	}
	rows := [][]string{{"no", "time", "who", "action", "tenant", "about", "detail"}}
	for i := range acts {
		a := &acts[i]
		rows = append(rows, []string{
			strconv.FormatInt(a.Number, 10), a.Time.In(zone).Format(time.DateTime), Visible(a.Actor), a.Action, dash(Visible(a.Tenant)), dash(Visible(a.Target)), Visible(a.Detail),
		})
	}
	p.table(rows, "rfffffl")
	return p.err
}
