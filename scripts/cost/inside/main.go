// Inside is what the guard on cost runs of the module itself, each in a process of its own: a gateway, commits to a store,
// and the plans of the store's statements. It is not a part of the guard's own program, which is a floor
// and must not become dearer with the module.
//
// Each prints one JSON object at its end; a gateway prints its address before that.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "inside:", err)
		os.Exit(1)
	}
}

func run(what string, args []string) (err error) {
	var out any
	switch what {
	case "gateway":
		err = serve(args[0], args[1])
		out = allocated(args[1])
	case "open":
		err = open(args[0])
	case "commits":
		out, err = commits(args[0])
	case "plans":
		out, err = plans(args[0], args[1])
	default:
		err = fmt.Errorf("no %q", what)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// A spent is what the guard reads.
type spent struct {
	Mallocs, Bytes, Database float64
}

// allocated returns what this process has allocated so far, and how large its database is.
func allocated(file string) spent {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s := spent{Mallocs: float64(m.Mallocs), Bytes: float64(m.TotalAlloc)}
	if info, err := os.Stat(file); err == nil { // else it has failed before
		s.Database = float64(info.Size())
	}
	return s
}
