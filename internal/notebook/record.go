package notebook

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/notebook/scan"
	"github.com/decantdev/decant/memory"
)

// A Record is an item with its detail.
type Record struct {
	memory.Item
	Detail
}

// Detail is what a notebook knows of an item beside its text.
type Detail struct {
	Type    Type   `json:"type,omitempty"`    // empty: the kind of the item says it
	Shared  bool   `json:"shared,omitzero"`   // it stands in the file that is committed, too
	Shares  string `json:"shares,omitempty"`  // of an observation: the id of the shared rule that waits for a yes
	Session string `json:"session,omitempty"` // that it was first known from
	Message int    `json:"message,omitzero"`  // of that session
	Seen    []Seen `json:"seen,omitempty"`    // who confirmed it, and where; what was said stands in the confirmations of the item

	Number    int       `json:"number,omitzero"`     // of a rule
	Why       string    `json:"why,omitempty"`       // of a rule or a decision
	Revisit   string    `json:"revisit,omitempty"`   // when a decision is looked at again
	Refused   time.Time `json:"refused,omitzero"`    // when a person said that it is no rule
	RefusedAt int       `json:"refused_at,omitzero"` // how many confirmations it had then
	Suspended time.Time `json:"suspended,omitzero"`  // when it was contradicted
	Against   string    `json:"against,omitempty"`   // what contradicted it
	Reason    string    `json:"reason,omitempty"`    // why it was archived
	Removed   time.Time `json:"removed,omitzero"`    // when a person deleted it from an archive; it is in no file then
	Offer     string    `json:"offer,omitempty"`     // why a person is asked about an observation at once: order, correction, request, procedure
	Asked     int       `json:"asked,omitzero"`      // sessions in which a person asked for it or the like, when it was noted
	Quotes    []string  `json:"quotes,omitempty"`    // what was said there: "SESSION mN “TEXT”"
	Denied    []string  `json:"denied,omitempty"`    // sessions that contradicted it
	Was       []string  `json:"was,omitempty"`       // its texts before it was edited, oldest first
	Changed   time.Time `json:"changed,omitzero"`    // when a person last edited it, or archived or restored it

	Task    *Task         `json:"task,omitempty"`
	Context *ContextEntry `json:"context,omitempty"`
	Own     *State        `json:"own,omitempty"` // of the notebook itself
}

// Type says what an item is where its kind does not.
type Type string

// The types of items of kind memory.
const (
	DecisionType Type = "decision"
	ContextType  Type = "context" // an entry of CONTEXT_ARCHIVE.md
	StateType    Type = "state"   // of the notebook itself
)

// Offers that are no kind of a sentence.
const (
	FromFile  = "file"      // it was imported
	Procedure = "procedure" // commands that repeat
)

// Who confirms something.
type Who string

// Those who may confirm. Output of tools, files and text of models confirm nothing.
const (
	Person Who = "person" // in their own words, in a session; it counts once for each
	Hand   Who = "hand"   // with a command, or in a file
	Check  Who = "check"  // a rule's check by a machine; it counts once for each session
)

// Seen is an occasion on which something was confirmed.
type Seen struct {
	By      Who       `json:"by"`
	Session string    `json:"session,omitempty"`
	From    int       `json:"from,omitzero"` // messages
	To      int       `json:"to,omitzero"`
	Time    time.Time `json:"time"`
}

// Task is what is known of a task.
type Task struct {
	Ref      string    `json:"ref"`               // TASK-42
	Numbered bool      `json:"numbered,omitzero"` // the notebook gave the name: somebody else may have it
	Done     time.Time `json:"done,omitzero"`
	Outcome  string    `json:"outcome,omitempty"`
	Files    int       `json:"files,omitzero"`
	Which    string    `json:"which,omitempty"` // the files in words
	Estimate int       `json:"estimate,omitzero"`
	Tokens   int       `json:"tokens,omitzero"`  // that it took
	Seconds  int       `json:"seconds,omitzero"` // that it took
	Commits  []string  `json:"commits,omitempty"`
	Tests    string    `json:"tests,omitempty"`
	Issues   string    `json:"issues,omitempty"`
	Pattern  string    `json:"pattern,omitempty"`
	Sessions int       `json:"sessions,omitzero"` // that the notebook had known when it was done
}

// ContextEntry is an entry of CONTEXT_ARCHIVE.md: a session, or a part of it, that was compacted.
type ContextEntry struct {
	Session  string    `json:"session"`
	Part     int       `json:"part,omitzero"` // which compaction of the session it is, from 1
	Time     time.Time `json:"time"`
	Seconds  int       `json:"seconds,omitzero"` // that it took
	Input    int       `json:"input,omitzero"`   // tokens
	Output   int       `json:"output,omitzero"`
	Tasks    int       `json:"tasks,omitzero"` // completed
	Summary  string    `json:"summary"`
	Original string    `json:"original,omitempty"` // path, handle or id that opens the original
}

// State is what a notebook knows of itself.
type State struct {
	Since     time.Time                       `json:"since"`
	Off       bool                            `json:"off,omitzero"`
	Trusts    bool                            `json:"trusts,omitzero"`     // rules that others share hold without a yes
	Sessions  int                             `json:"sessions,omitzero"`   // that it has known
	Recent    []string                        `json:"recent,omitempty"`    // the newest of them
	Read      time.Time                       `json:"read,omitzero"`       // when sessions were last read
	Published []string                        `json:"published,omitempty"` // working trees whose .claude/rules have the rules
	Roots     []string                        `json:"roots,omitempty"`     // working trees that it was used in, also those that are gone
	Weekly    time.Time                       `json:"weekly,omitzero"`     // the last Sunday whose scan was made
	Monthly   time.Time                       `json:"monthly,omitzero"`    // the last 1st whose scan was made
	Runs      []ScanRun                       `json:"runs,omitempty"`      // the newest, oldest first
	Rules     int                             `json:"rules,omitzero"`      // the highest number of a rule
	Tasks     int                             `json:"tasks,omitzero"`      // the highest number of a task
	Trees     map[string]map[string]pageState `json:"trees,omitempty"`     // the files of each working tree, by its root and their name
}

// A Run is one scan of a schedule.
type ScanRun struct {
	Schedule  string    `json:"schedule"` // weekly, monthly
	Due       time.Time `json:"due"`
	Made      time.Time `json:"made"`
	Escalated int       `json:"escalated"`
	Archived  int       `json:"archived"` // observations
	Tasks     int       `json:"tasks"`
}

// A Page is what is known of a file beside the records in it.
type pageState struct {
	Base   map[string]string `json:"base,omitempty"`   // what stood in the file when it was last written, a hash by record
	Pieces []piece           `json:"pieces,omitempty"` // somebody else's text
}

// A Piece is text in a file that is no record.
type piece struct {
	After string `json:"after,omitempty"` // id of the record or text of the heading that it follows; empty: it begins the file
	Text  string `json:"text"`
}

// RecordOf returns the record of an item.
func RecordOf(it memory.Item) (Record, error) {
	r := Record{Item: it}
	if it.Extra == "" {
		return r, nil
	}
	if err := json.Unmarshal([]byte(it.Extra), &r.Detail); err != nil {
		return r, fmt.Errorf("record %s: its detail cannot be read: %w", it.ID, err)
	}
	return r, nil
}

// Packed returns the item of a record, its detail within.
func (r *Record) Packed() (memory.Item, error) {
	extra, err := json.Marshal(&r.Detail, json.Deterministic(true), jsontext.EscapeForHTML(false))
	if err != nil {
		return r.Item, err
	}
	it := r.Item
	if it.Extra = string(extra); it.Extra == "{}" {
		it.Extra = ""
	}
	return it, nil
}

// recordID returns the id of what is known since a time: a hash, so that the same record has the same id in every clone and two
// branches never give one id to two records.
func recordID(kind memory.Kind, text string, at time.Time, session string) string {
	sum := sha256.Sum256([]byte(string(kind) + "\x00" + text + "\x00" + strconv.FormatInt(at.UnixMicro(), 10) + "\x00" + session))
	return "m:" + hex.EncodeToString(sum[:6])
}

// Sessions returns how many sessions a record was confirmed in or first known from.
func (r *Record) Sessions() int {
	var all []string
	if r.Session != "" {
		all = append(all, r.Session)
	}
	for _, s := range r.Seen {
		if s.Session != "" {
			all = append(all, s.Session)
		}
	}
	slices.Sort(all)
	return len(slices.Compact(all))
}

// Skill returns an observed procedure as the text of a SKILL.md, for a person to complete.
func (r *Record) Skill(name string) (string, error) {
	steps := scan.StepsOf(r.Text)
	if len(steps) == 0 {
		return "", fmt.Errorf("%s is not an observed procedure: its text does not begin with \"Run in this order\"", r.ID)
	}
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "", fmt.Errorf("%q is not the name of a skill: use lower-case letters, digits and hyphens", name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "---\nname: %s\ndescription: Use when you are about to run %s; these steps were %s.\n---\n\n", name, steps[len(steps)-1], r.Why)
	for i, s := range steps {
		fmt.Fprintf(&b, "%d. Run `%s`. Go on only if it succeeds.\n", i+1, s)
	}
	if r.Session != "" {
		fmt.Fprintf(&b, "\nFirst seen in session %s, message %d.\n", r.Session, r.Message)
	}
	return b.String(), nil
}

// Shareable reports whether a record may stand in the file that is committed: everything but rules and decisions is personal.
func (r *Record) Shareable() bool { return r.Kind == memory.KindRule || r.Type == DecisionType }

// Known reports whether a session has confirmed the record already, or is the one that it comes from.
func (r *Record) Known(session string) bool {
	return session != "" && (r.Session == session || slices.ContainsFunc(r.Seen, func(s Seen) bool { return s.Session == session }))
}

// worth orders rules by what a session should be told first: those that were confirmed more often, then more recently.
func worth(a, b *Record) int {
	return cmp.Or(cmp.Compare(b.Times, a.Times), b.Confirmed.Compare(a.Confirmed), cmp.Compare(a.Number, b.Number), cmp.Compare(a.ID, b.ID))
}
