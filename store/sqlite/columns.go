package sqlite

import (
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/seal"
)

// A treatment is what is done with the values of a column where the database is encrypted.
type treatment int

const (
	unknown treatment = iota
	inClear           // nothing
	sealed            // encrypted for its place
	named             // the name of a session, encrypted so that it can be looked up
	short             // the short form of such a name
	hashed            // a hash, masked
	listed            // hashes, one after the other
)

// A table says what is done with its columns, by their names with spaces between.
type table struct {
	clear, sealed, named, short, masked, listed string

	// place is which columns make the place of what is sealed, in the order of the fields of seal.Place. The functions
	// of place.go make the same places.
	place [5]string
}

// tables are all tables but those of SQLite and of the index of words, which is empty where the database is encrypted.
// docs/SECURITY.md says what those columns tell that are kept in clear.
var tables = map[string]table{
	"conversations": {
		clear: "tenant id parent parent_version parent_length parent_in_force base version length messages tokens decisions " +
			"model hold suppressed pinned anchor_time created updated spent_tokens spent_cost spent_bare",
		sealed: "agent project anchor", named: "session", masked: "base_chain fixed", place: [5]string{"tenant", "id"},
	},
	"segments": {
		clear: "tenant conversation version position", sealed: "data", place: [5]string{"tenant", "conversation", "", "version", "position"},
	},
	"chains": {clear: "tenant conversation position", short: "session", masked: "chain"},
	"packs": {
		clear: "id tenant conversation codec", sealed: "names data", place: [5]string{"tenant", "conversation", "", "id"},
	},
	"blobs": {clear: "tenant pack", masked: "hash"},
	"holds": {clear: "id tenant conversation", listed: "hashes"},
	"decisions": {
		clear: "tenant conversation seq version id pour kind revokes created", masked: "target",
		sealed: "text record", place: [5]string{"tenant", "conversation", "id", "seq", "version"},
	},
	"checkpoints": {
		clear: "tenant conversation checkpoint_num decision from_message to_message messages_compressed " +
			"original_tokens compressed_tokens compression_ratio summary_cost_usd created_at",
		sealed: "summary_content key_facts", place: [5]string{"tenant", "conversation", "decision", "checkpoint_num"},
	},
	"fixed": {clear: "tenant tokens", masked: "version system tools"},
	"requests": {
		clear:  "tenant conversation id time version length api model status broken answer_id usage",
		masked: "fixed frame view answer plan",
		sealed: "stop planned", place: [5]string{"tenant", "conversation", "id"},
	},
	"spends": {
		clear: "tenant id conversation time day model own input cache_read cache_write write_1h output " +
			"bare_input bare_cache_read bare_cache_write bare_write_1h bare_output cost bare rewrite oversized trial trial_prompt trial_cost purpose",
	},
	"spent":  {clear: "tenant day tokens cost"},
	"claims": {clear: "tenant conversation work time"},
	"findings": {
		clear: "upstream organization topic time", sealed: "value", place: [5]string{"upstream", "organization", "topic"},
	},
	"memories": {
		clear:  "tenant id level kind conversation from_message to_message times created confirmed escalated archived restored became origin",
		masked: "scope", sealed: "name text extra", place: [5]string{"tenant", "id"},
	},
	"confirmations": {
		clear: "tenant memory seq conversation from_message to_message time", sealed: "evidence", place: [5]string{"tenant", "memory", "", "seq"},
	},
	"journals": {
		clear: "tenant id kind conversation length created updated", sealed: "head", place: [5]string{"tenant", "id"},
	},
	"journal_steps": {
		clear: "tenant journal seq codec", sealed: "data", place: [5]string{"tenant", "journal", "", "seq"},
	},
	"tenant_keys": {
		clear: "seq id tenant hash created revoked limits", sealed: "note", place: [5]string{"tenant", "id"},
	},
	"acts": {
		clear: "seq time actor action tenant target", sealed: "detail", place: [5]string{"tenant", "action", "target", "time"},
	},
	"search_docs":  {clear: "id tenant", masked: "hash"},
	"search_queue": {clear: "id tenant", listed: "hashes"},
	"encryption":   {clear: "one data_key key"},
}

// how returns what is done with a column.
func (t *table) how(column string) treatment {
	for h, names := range map[treatment]string{inClear: t.clear, sealed: t.sealed, named: t.named, short: t.short, hashed: t.masked, listed: t.listed} {
		if slices.Contains(strings.Fields(names), column) {
			return h
		}
	}
	return unknown
}

// at returns the place of a sealed value in a row.
func (t *table) at(column string, row map[string]any) seal.Place {
	text := func(i int) string { s, _ := row[t.place[i]].(string); return s }
	number := func(i int) int64 { n, _ := row[t.place[i]].(int64); return n }
	return seal.Place{Column: column, Tenant: text(0), ID: text(1), Part: text(2), Number: number(3), Version: number(4)}
}
