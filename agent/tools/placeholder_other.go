//go:build !linux

package tools

func placehold(string) (remove func()) { return func() {} }
