package summary

// collect takes everything in that a record of s in a budget may say.
func collect(s *source, budget float64, noResults bool) *book {
	for _, t := range s.texts {
		t.finished = nil // lines of another lexicon, where nothing has fitted into a larger budget
	}
	b := &book{manner: mannerOf(s), src: s, lex: newLexicon(s.check), budget: budget, noResults: noResults}
	takeJobs(b)
	tasks := b.takePlan()
	files := b.takeTrail()
	b.takeQuotes()
	b.takeConclusions(tasks, files)
	b.takeUsers()
	b.takeState()
	b.takeHandles()
	b.lex.weigh(s.messages, b.present)
	b.lines, b.words = len(b.lex.lines), len(b.lex.freq)
	return b
}
