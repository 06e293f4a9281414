package summary

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// A source is a stretch of conversation as a record is made of it: what was said, and what was done.
type source struct {
	ctx      context.Context
	from, to int // numbers of the first and the last message
	messages int
	size     int  // bytes of all texts
	model    bool // the model said or did something
	worked   bool // an earlier record is of work rather than of a talk
	texts    []*text
	acts     []*act
	handles  handles

	// What an earlier record says that is neither.
	history [][2]string // of files: path and outcome
	quotes  []*quoted
	planned plan
}

// An author is who wrote a text, as far as it matters here.
type author uint8

const (
	byUser   author = iota
	byAnswer        // the user, to a question of the client's
	byModel
	byClient // a note that the agent program put there
	byEarlier
	byOutcome // what an earlier record says of a finished job
)

// A text is one thing that somebody said. Its secrets are masked.
type text struct {
	author   author
	index    int // of its message among those that are read
	number   int // of its message in the transcript
	body     string
	question string // that an answer is to
	handle   decant.Handle
	finished []int32 // lines of the lexicon that say that something was done, when they were asked for
	closing  bool    // the model's last words before the user spoke again, or the stretch ends
	retold   bool    // an earlier record has it
	standing bool    // an earlier record has it among the rules
}

// An act is one call of a tool with what it returned. Its secrets are masked.
type act struct {
	tool.Call
	index, number int
	values        []value
	raw           string // the result, until it was looked through for handles
	result        string // without the client's frame; empty until there is one
	outcome       tool.Outcome
	done, failed  bool
	planned       bool   // it is about the plan, which says it
	effect        bool   // it changed something that is no file
	said          string // how it ended, as an earlier record has it
}

// A value is one string or number in the arguments of a call.
type value struct {
	name, text string
	old        bool // text that the call replaces
}

// An ended is what check panics with, for Extract to catch.
type ended struct{ err error }

// check ends the work on a record when ctx is done. Every loop over a whole source calls it.
func (s *source) check() {
	if err := s.ctx.Err(); err != nil {
		panic(ended{fmt.Errorf("summarise %d messages: %w", s.messages, err)})
	}
}

// numberFrom returns the number of the first message from index on in which somebody said something.
func (s *source) numberFrom(index int) int {
	for _, t := range s.texts {
		if t.index >= index && t.number > 0 {
			return t.number
		}
	}
	return 0
}

func caught(err *error) {
	switch v := recover().(type) {
	case nil:
	case ended:
		*err = v.err
	default:
		panic(v)
	}
}

// A quoted is a stretch of quotes that an earlier record has, with its heading.
type quoted struct {
	head  string
	lines []string
	index int
}
