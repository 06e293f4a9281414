//go:build !linux

package tools

type aside struct {
	top string
}

func (a *aside) before() {}

func (a *aside) after() string { return "" }
