// Inside is what the guard on cost runs of the module itself, each in a process of its own: a gateway, commits to a store and
// to a bare table, and the plans of the store's statements. It is not a part of the guard's own program, which is a floor
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
		out = taken(args[1])
	case "commits":
		err = commits(args[0], args[1])
		out = taken(args[0])
	case "bare":
		err = bareCommits(args[0], args[1])
		out = taken(args[0])
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

// taken returns what this process has allocated so far, and how large its database is.
func taken(file string) any {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	info, err := os.Stat(file)
	if err != nil {
		return err.Error() // which is not what is expected
	}
	return map[string]uint64{"Mallocs": m.Mallocs, "Bytes": m.TotalAlloc, "Database": uint64(info.Size())}
}
