package sqlite

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// dsn makes the data source names of one file.
type dsn struct {
	path string
	busy time.Duration // how long readers wait for another process
	open time.Duration // how long Open does
	sync string
	only string // how a database is opened that must not be written; empty: it may be
}

func newDSN(path string, o Options) dsn {
	d := dsn{path: path, busy: o.Busy, sync: "normal"}
	if d.busy == 0 {
		d.busy = 10 * time.Second
	}
	if d.open = o.Opening; d.open == 0 {
		d.open = d.busy
	}
	if o.SurvivePowerLoss {
		d.sync = "full"
	}
	return d
}

// checkpointPages is how long the write-ahead log gets before its pages are copied to the database:
// 16 MB. A page that many commits have changed is copied once, and the disk is flushed as rarely.
const checkpointPages = 4000

// write names the write connection. Settings wait for setup: the first statement that needs to know the tables reads all
// of them, which takes longer than all else.
func (d dsn) write() string { return d.with(d.open) }

// setup is the settings of the write connection.
func (d dsn) setup() string {
	return "PRAGMA wal_autocheckpoint = " + strconv.Itoa(checkpointPages) + "; PRAGMA journal_size_limit = 67108864; " +
		"PRAGMA synchronous = " + d.sync + "; PRAGMA cache_size = -16000"
}

func (d dsn) read() string {
	return d.with(d.open, "_pragma=query_only(1)", "_pragma=cache_size(-8000)", "_pragma=temp_store(memory)")
}

// with returns the URI of the file. The path is escaped, because the driver would cut it at a
// question mark.
func (d dsn) with(wait time.Duration, params ...string) string {
	busy := "_pragma=busy_timeout(" + strconv.FormatInt(wait.Milliseconds(), 10) + ")"
	p := (&url.URL{Path: filepath.ToSlash(d.path)}).EscapedPath()
	if d.only != "" {
		params = append(params, d.only)
	}
	return "file:" + p + "?" + strings.Join(append([]string{busy}, params...), "&")
}
