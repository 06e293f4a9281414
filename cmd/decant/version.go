package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/decantdev/decant/internal/process"
)

// version and commit are set by the release build; other builds get them from the toolchain.
var version, commit = "", ""

type versionCmd struct{}

// Run prints the version of the program, the commit it was built from, and with what.
func (versionCmd) Run(s *process.Process) error {
	_, err := fmt.Fprintln(s.Out, versionLine(buildInfo()))
	return err
}

// buildInfo returns what the toolchain recorded about this build.
func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

func versionOf(info *debug.BuildInfo) string { return cmp.Or(version, info.Main.Version, "(devel)") }
func commitOf(info *debug.BuildInfo) string  { return cmp.Or(commit, revision(info)) }

// versionLine returns what is known about a build: "decant v1.2.0 (0123456789ab) go1.26.8 linux/amd64".
func versionLine(info *debug.BuildInfo) string {
	parts := []string{"decant", versionOf(info)}
	if c := commitOf(info); c != "" {
		parts = append(parts, "("+c+")")
	}
	return strings.Join(append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), " ")
}

// revision returns the commit that the toolchain recorded, shortened, and whether there were changes.
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
