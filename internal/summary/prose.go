package summary

import (
	"context"

	"github.com/decantdev/decant"
)

// prose are the sections that a model may write. The others hold what people said, or what Decant has found out by
// itself: rules, files, quotes.
var prose = [...]section{secGoal, secPlan, secState, secSaid, secDecided, secOpen}

// Prose returns the headings of the sections that a model may write of, in the order of a record.
func Prose(chinese bool) []string {
	lang := 0
	if chinese {
		lang = 1
	}
	out := make([]string, len(prose))
	for i, s := range prose {
		out[i] = headings[lang][s]
	}
	return out
}

// Beside returns the parts of the extractive record of ms that no model writes: the rules and the files. They are empty
// where there is nothing of the kind or no room for it.
func Beside(ctx context.Context, ms []decant.Message, o Options) (rules, files string, err error) {
	s, err := Extract(ctx, ms, o)
	if err != nil {
		return "", "", err
	}
	for head, body := range Sections(s.Text) {
		switch sectionNamed(head) {
		case secRules:
			rules = body
		case secFiles:
			files = body
		}
	}
	return rules, files, nil
}

// Chinese reports whether what people and the model say in ms is mostly Chinese, so that a record of it is.
func Chinese(ctx context.Context, ms []decant.Message) (yes bool, err error) {
	defer caught(&err)
	m := mannerOf(read(ctx, ms))
	return m.chinese, nil
}
