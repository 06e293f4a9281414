package summary

// talkShare is the least share of prose that makes a conversation a talk.
const talkShare = .8

// language finds out what sort of conversation it is: how much of it is prose, and whether that is mostly
// Chinese: every sixth character or more, since names and code are Latin in any language.
func (b *book) language() {
	said, han, latin := 0, 0, 0
	for _, t := range b.texts {
		if t.author == byClient {
			continue
		}
		said += len(t.body)
		for _, r := range t.body {
			switch {
			case r >= 0x4e00 && r <= 0x9fff:
				han++
			case r < 0x80 && letter(byte(r)):
				latin++
			}
		}
	}
	b.prose = float64(said) / float64(max(b.size, 1))
	b.talk = b.prose > talkShare && !b.worked
	b.chinese = han > 0 && han*6 > latin
}

// say returns the one of two texts that is in the language of the conversation.
func (b *book) say(english, chinese string) string {
	if b.chinese {
		return chinese
	}
	return english
}
