package summary

import "unicode"

// talkShare is the least share of prose that makes a conversation a talk.
const talkShare = .8

// A manner is what sort of conversation a source is.
type manner struct {
	prose   float64 // the share of what people and the model said
	talk    bool    // it is said rather than done: words matter more than names
	chinese bool
}

// mannerOf finds out how much of a source is prose, and whether that is mostly Chinese: every sixth character or
// more, since names and code are Latin in any language. Japanese and Korean have such characters, too, among others.
func mannerOf(src *source) (m manner) {
	said, han, other, latin := 0, 0, 0, 0
	for _, t := range src.texts {
		if t.author == byClient {
			continue
		}
		said += len(t.body)
		for _, r := range t.body {
			switch {
			case r >= 0x4e00 && r <= 0x9fff:
				han++
			case r > 0xff && unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
				other++
			case r < 0x80 && letter(byte(r)):
				latin++
			}
		}
	}
	m.prose = float64(said) / float64(max(src.size, 1))
	m.talk = m.prose > talkShare && !src.worked
	m.chinese = han > 0 && han*6 > latin && other*10 <= han
	return m
}

// say returns the one of two texts that is in the language of the conversation.
func (m *manner) say(english, chinese string) string {
	if m.chinese {
		return chinese
	}
	return english
}
