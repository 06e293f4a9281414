package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version and commit are set by the release build; other builds know them from the toolchain.
var version, commit = "", ""

type versionCmd struct{}

// Run prints the version of the program, the commit it was built from, and with what.
func (versionCmd) Run(s *streams) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	_, err := fmt.Fprintln(s.out, versionLine(info))
	return err
}

// versionLine returns what is known about a build: "decant v1.2.0 (0123456789ab) go1.26.8 linux/amd64".
func versionLine(info *debug.BuildInfo) string {
	parts := []string{"decant", cmp.Or(version, info.Main.Version, "(devel)")}
	if c := cmp.Or(commit, revision(info)); c != "" {
		parts = append(parts, "("+c+")")
	}
	return strings.Join(append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), " ")
}

// revision returns the commit that the toolchain noted, shortened, and whether there were changes.
func revision(info *debug.BuildInfo) string {
	const short = 12
	id, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			id = s.Value[:min(short, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", with changes"
		}
	}
	if id == "" {
		return ""
	}
	return id + changed
}
