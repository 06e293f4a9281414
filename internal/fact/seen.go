package fact

import (
	"math"

	"github.com/decantdev/decant"
)

// Seen tells where one fact was seen in a conversation. Messages are counted by their index.
type Seen struct {
	User, Model, Tool bool // said by whom; Model: in text or in the arguments of a call
	Messages          int  // that have it
	Last              int  // the last of them
	Inner             bool // stood within another fact where it was seen first
}

// Add takes in one occurrence in message i.
func (s *Seen) Add(i int, author decant.Author) {
	if s.Messages == 0 || s.Last != i {
		s.Last = i
		s.Messages++
	}
	switch author {
	case decant.AuthorUser, decant.AuthorDecant:
		s.User = true
	case decant.AuthorModel:
		s.Model = true
	default:
		s.Tool = true
	}
}

// trusted returns the most trusted author that said it.
func (s *Seen) trusted() decant.Author {
	switch {
	case s.User:
		return decant.AuthorUser
	case s.Model:
		return decant.AuthorModel
	}
	return decant.AuthorTool
}

// The chance that a fact is needed again is a logistic function of three things that are known about it:
// how many messages have it, how long ago the last of them was, and whether a person or the model said it.
// Its kind, its length, how often each author said it and the age of its first mention were tried as
// well: none of them helped on sessions other than those that their weights were fitted on.
const (
	base     = -2.0
	perHabit = 0.3 // for each power of e of messages that have it
	perAge   = 0.3 // less for each doubling of the messages since the last of them
	authored = 1.5 // when user or model said it
)

// Chance returns the chance, 0 to 1, that a fact that was seen as s tells is needed again after n messages.
func (s *Seen) Chance(n int) float64 {
	z := base + perHabit*math.Log(float64(max(s.Messages, 1))) - perAge*math.Log2(float64(max(n-s.Last, 1)))
	if s.User || s.Model {
		z += authored
	}
	return 1 / (1 + math.Exp(-z))
}
