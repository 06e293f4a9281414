package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/notebook/record"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/secret"
)

// writeRecord prints a record with where it is known from.
func writeRecord(s *streams, r *record.Record) error {
	fmt.Fprintf(s.out, "%s %s, %s: %s\n", r.ID, r.Kind, r.Item.State(), report.Visible(r.Text))
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(s.out, "  %-10s %s\n", name, report.Visible(value))
		}
	}
	line("why", r.Why)
	line("since", r.Created.Local().Format(time.DateTime))
	line("session", r.Session)
	line("from", r.From)
	line("became", r.Became)
	line("reason", r.Reason)
	line("against", r.Against)
	for _, was := range r.Was {
		line("was", was)
	}
	for i, c := range r.Confirmations {
		k, who := i+len(r.Seen)-len(r.Confirmations), ""
		if k >= 0 {
			who = fmt.Sprintf(" (%s %s)", r.Seen[k].By, r.Seen[k].Session)
		}
		line("confirmed", c.Time.Local().Format(time.DateTime)+who+": "+c.Evidence)
	}
	return nil
}

// writeMessage prints the message that a record is first known from, as its session's file has it. Without the file the record
// has its quotation.
func writeMessage(s *streams, r *record.Record) error {
	if r.Session == "" || r.Message == 0 {
		return nil
	}
	f, err := recordedSession(r.Session)
	if err != nil {
		return s.say(fmt.Sprintf("\nIts session %s is not recorded here any longer.\n", r.Session))
	}
	doc, err := s.document(f.path, string(f.format))
	if err != nil {
		return err
	}
	for i := range doc.Conversation.Messages {
		m := &doc.Conversation.Messages[i]
		if m.Number != r.Message {
			continue
		}
		fmt.Fprintf(s.out, "\n%s, message %d, %s:\n", f.path, m.Number, m.Role)
		for j := range m.Blocks {
			if m.Blocks[j].Content != nil && m.Blocks[j].Kind == decant.KindText {
				fmt.Fprintf(s.out, "  %s\n", strings.ReplaceAll(report.Visible(secret.Mask(m.Blocks[j].Text())), "\n", "\n  "))
			}
		}
	}
	return nil
}
