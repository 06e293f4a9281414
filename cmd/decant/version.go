package main

import (
	"fmt"
	"runtime/debug"
)

// version is set by the release build.
var version = ""

type versionCmd struct{}

// Run prints the version of the program and of Go.
func (versionCmd) Run(s *streams) error {
	v, goVersion := version, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
		if v == "" {
			v = info.Main.Version
		}
	}
	if v == "" {
		v = "(devel)"
	}
	_, err := fmt.Fprintf(s.out, "decant %s %s\n", v, goVersion)
	return err
}
