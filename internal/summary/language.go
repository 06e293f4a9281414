package summary

import "github.com/decantdev/decant/internal/language"

// talkShare is the least share of prose that makes a conversation a talk.
const talkShare = .8

// A manner is what sort of conversation a source is.
type manner struct {
	prose   float64 // the share of what people and the model said
	talk    bool    // it is said rather than done: words matter more than names
	chinese bool
}

// mannerOf finds out how much of a source is prose, and whether that is Chinese.
func mannerOf(src *source) (m manner) {
	said := 0
	var in language.Counter
	for _, t := range src.texts {
		if t.author == byClient {
			continue
		}
		said += len(t.body)
		in.Add(t.body)
	}
	m.prose = float64(said) / float64(max(src.size, 1))
	m.talk = m.prose > talkShare && !src.worked
	m.chinese = in.Language() == "Chinese"
	return m
}

// say returns the one of two texts that is in the language of the conversation.
func (m *manner) say(english, chinese string) string {
	if m.chinese {
		return chinese
	}
	return english
}
