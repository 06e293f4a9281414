//go:build !linux || !(amd64 || arm64)

package tools

// MainIfConfined does nothing here: commands are confined by Landlock on Linux only.
func MainIfConfined() {}

// landlocked returns no walls.
func landlocked(*plan) walls { return walls{} }

// unconfined returns how commands are started that nothing confines.
func unconfined(*plan) walls {
	return walls{wrap: func(_ string, argv []string) []string { return argv }}
}
