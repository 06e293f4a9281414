package form

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/memory"
)

// ScopeHash returns what a scope is looked up by.
func ScopeHash(s memory.Scope) decant.Hash { return decant.HashText(string(s.Level) + "\x00" + s.Name) }

// Sources returns the conversations that an item comes from, or was confirmed in.
func Sources(it *memory.Item) []string {
	ids := []string{it.Source.Conversation}
	for i := range it.Confirmations {
		ids = append(ids, it.Confirmations[i].Conversation)
	}
	return ids
}
