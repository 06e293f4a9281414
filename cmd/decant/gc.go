package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/store"
)

type gcCmd struct {
	Age    command.Age `default:"30d" help:"Delete conversations that have not changed for this long; 0d deletes all."`
	NoAge  bool        `help:"Delete nothing because of its age alone."`
	Size   byteSize    `placeholder:"SIZE" help:"Maximum size of the database: 500MB, 2GB. Conversations that were unchanged longest go first."`
	DryRun bool        `help:"Show what would be deleted; delete nothing."`
	JSON   bool        `name:"json" help:"Print JSON."`
	command.AllFlag
	command.DBFlag
}

// Run removes old conversations of one tenant or of all, with everything that only they hold. Pinned conversations
// stay, and so do those that a fork begins with. If a client continues a removed conversation, it begins again.
func (c *gcCmd) Run(s *process.Process) error {
	p := store.Policy{Now: time.Now(), MaxAge: max(time.Duration(c.Age), 1), Size: int64(c.Size), DryRun: c.DryRun}
	if c.NoAge {
		p.MaxAge = 0
		if c.Size == 0 {
			return exit.Usage(fmt.Errorf("nothing to delete by: give --size with --no-age"))
		}
	}
	return c.With(s, func(ctx context.Context, db store.Store) error {
		known, err := c.known(ctx, db)
		if err != nil {
			return err
		}
		p.Tenant, p.AllTenants = known.tenant, c.AllTenants
		var done *store.Collected
		err = s.Working("removing", func() (err error) {
			done, err = db.GC(ctx, p)
			return err
		})
		if err != nil {
			return err
		}
		if !c.DryRun {
			if err := command.Audited(ctx, db, c.act(s, p, done)); err != nil {
				return err
			}
		}
		r := lookup.Collection(done, known.conversations, c.DryRun)
		if c.JSON {
			return command.WriteJSON(s.Out, r)
		}
		return r.WriteText(s.Out, time.Local)
	})
}

// act returns the record of a collection.
func (c *gcCmd) act(s *process.Process, p store.Policy, done *store.Collected) store.Act {
	detail := fmt.Sprintf("%s, %d bytes", report.Count(len(done.Conversations), "conversation"), done.Bytes)
	if p.AllTenants {
		return command.Act(s, "gc", "", "", "all tenants: "+detail)
	}
	return command.Act(s, "gc", p.Tenant, "", detail)
}

// knownBefore are the conversations before a collection.
type knownBefore struct {
	tenant        string // of one tenant: its name
	conversations []store.Summary
}

func (c *gcCmd) known(ctx context.Context, db store.Store) (k knownBefore, err error) {
	tenants, err := c.Tenant.Chosen(ctx, db, &c.AllFlag)
	if err != nil {
		return k, err
	}
	k.tenant = tenants[0]
	k.conversations, err = lookup.Conversations(ctx, db, tenants, store.Filter{Limit: math.MaxInt32})
	return k, err
}

// A byteSize is a number of bytes: 500MB, 2GB, 1048576. Units are powers of 1000.
type byteSize int64

// UnmarshalText reads a size from a flag.
func (b *byteSize) UnmarshalText(text []byte) error {
	s := strings.ToUpper(strings.TrimSpace(string(text)))
	digits, unit := strings.TrimSuffix(s, "B"), 1.0
	for i, u := range []string{"K", "M", "G", "T"} {
		if d, ok := strings.CutSuffix(digits, u); ok {
			digits, unit = d, math.Pow(1000, float64(i+1))
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil || !(n > 0 && n*unit <= 1e18) {
		return fmt.Errorf("%q is not a size: write 500MB or 2GB", text)
	}
	*b = byteSize(n * unit)
	return nil
}
