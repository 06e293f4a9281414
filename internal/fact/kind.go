package fact

import (
	"strings"

	"github.com/decantdev/decant"
)

// extensions are the endings that make a bare name a file's.
const extensions = " go ts tsx js jsx mjs cjs py rs ex exs md json jsonl yaml yml toml sh sql html css scss txt lock mod sum heex c h cc cpp hpp java kt rb php proto swift cs vue svelte xml csv log env ini cfg conf tf patch diff "

func hasExtension(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	if dot < 1 || len(s)-dot > 6 || len(s)-dot < 2 {
		return false
	}
	i := strings.Index(extensions, s[dot+1:])
	return i > 0 && extensions[i-1] == ' ' && extensions[i+len(s)-dot-1] == ' '
}

// shape is what a name is made of.
type shape struct {
	lower, upper, digit, under, dots int
	humps                            int // capitals after a small letter or a digit
	hexa                             bool
}

func shapeOf(s string) shape {
	sh := shape{hexa: true}
	prev := uint8(0)
	for i := 0; i < len(s); i++ {
		c := class[s[i]]
		switch {
		case c&lower != 0:
			sh.lower++
			if prev&upper != 0 && i > 1 && class[s[i-2]]&upper != 0 {
				sh.humps++ // HTTPServer
			}
		case c&upper != 0:
			sh.upper++
			if prev&(lower|digit) != 0 {
				sh.humps++
			}
		case c&digit != 0:
			sh.digit++
		case c&under != 0:
			sh.under++
		default:
			sh.dots++
		}
		sh.hexa = sh.hexa && hex(s[i])
		prev = c
	}
	return sh
}

// kind returns what the name s is, and whether it is a fact at all.
func kind(s string) (decant.FactKind, bool) {
	sh := shapeOf(s)
	switch {
	case sh.lower+sh.upper+sh.under == 0:
		return decant.FactNumber, sh.dots > 0 && sh.dots < 4 || sh.digit >= 4
	case s[0] == 'v' && sh.lower == 1 && sh.upper+sh.under == 0:
		return decant.FactNumber, sh.dots > 0 && sh.digit > 1
	case sh.hexa && sh.digit > 0 && sh.lower > 0 && len(s) >= 7 && len(s) <= 64:
		return decant.FactHash, true
	case errorName(s, sh):
		return decant.FactError, true
	case len(s) < 5:
		return "", false
	case sh.upper > 0 && sh.digit > 0 && sh.lower+sh.under+sh.dots == 0:
		return decant.FactIdentifier, true // a booking or ticket number
	case len(s) < 6:
		return "", false
	case sh.dots > 0:
		return decant.FactIdentifier, class[s[0]]&digit == 0 && !abbreviation(s)
	}
	return decant.FactIdentifier, sh.humps > 0 || sh.under > 0 && sh.lower+sh.upper+sh.digit > 2
}

func errorName(s string, sh shape) bool {
	switch {
	case class[s[0]]&upper == 0 || sh.dots > 0:
		return false
	case strings.HasSuffix(s, "Error") || strings.HasSuffix(s, "Exception"):
		return len(s) > 5
	case strings.HasPrefix(s, "ERR_"):
		return len(s) > 5
	case s[0] == 'E' && sh.lower+sh.under == 0:
		return sh.digit == 0 && sh.upper >= 5 && len(s) < 12 || sh.upper == 1 && sh.digit >= 3 && sh.digit <= 5
	}
	return false
}

// abbreviation reports whether the dotted s has no part of two letters or more at its end: "e.g", "i.e".
func abbreviation(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	return len(s)-dot < 3 || class[s[dot+1]]&digit != 0
}
