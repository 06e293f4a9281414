package main

import (
	"testing"
	"time"

	"github.com/decantdev/decant/internal/command"
)

func TestAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "0d": 0, "1.5d": 36 * time.Hour, "12h": 12 * time.Hour, " 90m ": 90 * time.Minute} {
		var a command.Age
		if err := a.UnmarshalText([]byte(text)); err != nil || time.Duration(a) != want {
			t.Errorf("%q: got %v, %v; want %v", text, time.Duration(a), err, want)
		}
	}
	for _, text := range []string{"", "d", "30", "-1d", "-1h", "1e9d", "nand", "soon"} {
		if err := new(command.Age).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{"1048576": 1048576, "500MB": 500e6, "2gb": 2e9, "1.5 KB": 1500, "3T": 3e12, "7b": 7} {
		var b byteSize
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%q: got %d, %v; want %d", text, b, err, want)
		}
	}
	for _, text := range []string{"", "MB", "-1GB", "0", "big", "nan", "1e30"} {
		if err := new(byteSize).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
