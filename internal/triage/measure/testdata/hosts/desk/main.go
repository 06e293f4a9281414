// Command desk is a help desk. It reads the names of operations from standard input.
package main

import (
	"bufio"
	"os"
	"time"

	"github.com/acme/desk/internal/report"
	"github.com/acme/desk/internal/ticket"
)

func main() {
	log := report.New(os.Stdout, "desk", "")
	at := time.Date(2026, 11, 20, 4, 0, 0, 0, time.UTC)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		op := in.Text()
		at = at.Add(time.Second)
		log.Do(report.Request{Time: at, Transaction: "desk/" + op, ID: op}, func() error { return ticket.NewService().Do(op) })
	}
}
