package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// Who reports a problem can say which commit it is about.
func TestVersionLine(t *testing.T) {
	built := " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	settings := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.modified", Value: modified}}
	}
	for want, info := range map[string]*debug.BuildInfo{
		"decant (devel)":                              {},
		"decant v1.2.0":                               {Main: debug.Module{Version: "v1.2.0"}},
		"decant (devel) (0123456789ab)":               {Main: debug.Module{Version: "(devel)"}, Settings: settings("false")},
		"decant (devel) (0123456789ab, with changes)": {Settings: settings("true")},
	} {
		if got := versionLine(info); got != want+built {
			t.Errorf("%q, want %q", got, want+built)
		}
	}
}
