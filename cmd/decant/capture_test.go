package main

import (
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/decantdev/decant"
)

// capture sets a variable to the first match of an expression in what the last command printed.
//
//	capture NAME EXPRESSION
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME EXPRESSION")
	}
	out := ts.ReadFile("stdout")
	m := regexp.MustCompile(args[1]).FindStringSubmatch(out)
	if m == nil {
		ts.Fatalf("no %s in:\n%s", args[1], out)
	}
	ts.Setenv(args[0], m[len(m)-1])
}

// original checks that what the last command printed is, to the byte, what a handle stands for.
//
//	original HANDLE
func original(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: original HANDLE")
	}
	got := decant.HashText(ts.ReadFile("stdout")).String()
	if !strings.HasPrefix(got, strings.TrimPrefix(args[0], "d:")) {
		ts.Fatalf("the hash of the output is %s, the handle %s", got, args[0])
	}
}
