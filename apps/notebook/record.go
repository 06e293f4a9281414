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

	"github.com/decantdev/decant/apps/notebook/internal/scan"
	"github.com/decantdev/decant/memory"
)

// A Record is what a notebook keeps: an item of memory with its detail.
type Record struct {
	memory.Item
	Detail
}

// Detail is what a notebook stores of an item besides its text.
type Detail struct {
	Type    Type     `json:"type,omitempty"`    // empty: the kind of the item is enough
	Shared  bool     `json:"shared,omitzero"`   // it is in the committed file, too
	Shares  string   `json:"shares,omitempty"`  // of an observation to review: the id of the rule that somebody shared
	Session string   `json:"session,omitempty"` // where it was first seen
	Message int      `json:"message,omitzero"`  // of that session
	Seen    []Seen   `json:"seen,omitempty"`    // who confirmed it where; the item has the words
	Heard   []string `json:"heard,omitempty"`   // ids of the messages that say so: their copies in forks say nothing new

	Number    int       `json:"number,omitzero"`     // of a rule
	Why       string    `json:"why,omitempty"`       // of a rule or a decision
	Revisit   string    `json:"revisit,omitempty"`   // when to look at a decision again
	Refused   time.Time `json:"refused,omitzero"`    // when a person refused to make it a rule
	RefusedAt int       `json:"refused_at,omitzero"` // confirmations that it had then
	Suspended time.Time `json:"suspended,omitzero"`  // when it was contradicted
	Against   string    `json:"against,omitempty"`   // what contradicted it
	Reason    string    `json:"reason,omitempty"`    // why it was archived
	Removed   time.Time `json:"removed,omitzero"`    // when a person deleted it from an archive file
	Offer     string    `json:"offer,omitempty"`     // why it is offered for review: a scan.Kind, FromFile or Procedure
	Asked     int       `json:"asked,omitzero"`      // sessions in which a person asked for it, when it was recorded
	Quotes    []string  `json:"quotes,omitempty"`    // words from there: SESSION mN “TEXT”
	Denied    []string  `json:"denied,omitempty"`    // sessions that contradicted it
	Was       []string  `json:"was,omitempty"`       // its earlier texts, oldest first
	Changed   time.Time `json:"changed,omitzero"`    // when a person last edited, archived or restored it

	Task    *Task         `json:"task,omitempty"`
	Context *ContextEntry `json:"context,omitempty"`
	Own     *State        `json:"own,omitempty"` // the notebook's own state
}

// unheard returns the evidence that a record does not come from already.
func (r *Record) unheard(found []scan.Evidence) (out []scan.Evidence) {
	for i := range found {
		if !slices.Contains(r.Heard, found[i].ID) {
			out = append(out, found[i])
		}
	}
	return out
}

// hear notes a message that a record comes from, "" where its id is not known.
func (r *Record) hear(id string) {
	if id != "" {
		r.Heard = append(r.Heard, id)
		r.Heard = r.Heard[max(0, len(r.Heard)-mostSessions):]
	}
}

// Type refines the kind memory of an item.
type Type string

// The types.
const (
	DecisionType Type = "decision"
	contextType  Type = "context" // an entry of CONTEXT_ARCHIVE.md
	stateType    Type = "state"   // the notebook's own state
)

// Values of Detail.Offer besides those of scan.Kind.
const (
	FromFile  = "file"      // imported, or shared by others
	Procedure = "procedure" // commands that repeat
)

// Who names a kind of confirmation.
type Who string

// Who may confirm. Output of tools, files and text of models never do.
const (
	Person Who = "person" // in their own words; once for each session
	Hand   Who = "hand"   // by a command, or in a file
	Check  Who = "check"  // by calls that keep the rule; once for each session
)

// Seen says where something was confirmed.
type Seen struct {
	By      Who       `json:"by"`
	Session string    `json:"session,omitempty"`
	From    int       `json:"from,omitzero"` // messages
	To      int       `json:"to,omitzero"`
	Time    time.Time `json:"time"`
}

// Task is the detail of a task.
type Task struct {
	Ref      string    `json:"ref"`               // TASK-42
	Numbered bool      `json:"numbered,omitzero"` // the notebook chose Ref, so another task may claim it
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
	Sessions int       `json:"sessions,omitzero"` // that the notebook had seen when it was done
}

// ContextEntry is an entry of CONTEXT_ARCHIVE.md: one compaction of a session.
type ContextEntry struct {
	Session  string    `json:"session"`
	Part     int       `json:"part,omitzero"` // number of the compaction in its session, from 1
	Time     time.Time `json:"time"`
	Seconds  int       `json:"seconds,omitzero"` // that it took
	Input    int       `json:"input,omitzero"`   // tokens
	Output   int       `json:"output,omitzero"`
	Tasks    int       `json:"tasks,omitzero"` // completed
	Summary  string    `json:"summary"`
	Original string    `json:"original,omitempty"` // path or id of the transcript
}

// State is a notebook's own state.
type State struct {
	Since     time.Time                       `json:"since"`
	Off       bool                            `json:"off,omitzero"`
	Trusts    bool                            `json:"trusts,omitzero"`     // shared rules need no yes
	Sessions  int                             `json:"sessions,omitzero"`   // seen so far
	Recent    []string                        `json:"recent,omitempty"`    // the newest of them
	Read      time.Time                       `json:"read,omitzero"`       // when sessions were last read
	Published []string                        `json:"published,omitempty"` // working trees with published rules
	Roots     []string                        `json:"roots,omitempty"`     // working trees that used it
	Weekly    time.Time                       `json:"weekly,omitzero"`     // last Sunday whose scan ran
	Monthly   time.Time                       `json:"monthly,omitzero"`    // last 1st whose scan ran
	Runs      []ScanRun                       `json:"runs,omitempty"`      // the newest, oldest first
	Rules     int                             `json:"rules,omitzero"`      // the highest number of a rule
	Tasks     int                             `json:"tasks,omitzero"`      // the highest number of a task
	Trees     map[string]map[string]pageState `json:"trees,omitempty"`     // files of each tree
}

// A ScanRun is one scheduled scan.
type ScanRun struct {
	Schedule  string    `json:"schedule"` // weekly, monthly
	Due       time.Time `json:"due"`
	Made      time.Time `json:"made"`
	Escalated int       `json:"escalated"`
	Archived  int       `json:"archived"` // observations
	Tasks     int       `json:"tasks"`
}

// A pageState is what is stored of a file besides its records.
type pageState struct {
	Base   map[string]string `json:"base,omitempty"`   // hash of the editable fields as last written, by record
	Pieces []piece           `json:"pieces,omitempty"` // text that people added
}

// A piece is text that people added to a file.
type piece struct {
	After string `json:"after,omitempty"` // id of the record or line of the heading before it
	Text  string `json:"text"`
}

// RecordOf unpacks the record of an item.
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

// Packed returns the item of a record with its detail.
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

// recordID returns an id: a hash, so that a record has the same id on every branch, and no two records share one.
func recordID(kind memory.Kind, text string, at time.Time, session string) string {
	parts := []string{string(kind), text, strconv.FormatInt(at.UnixMicro(), 10), session}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "m:" + hex.EncodeToString(sum[:6])
}

// Sessions counts the sessions in which a record was confirmed or first seen.
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

// HeardOnce reports whether an item is an observation that a person said in one session alone, and that nothing has
// confirmed. Copies of the session in forks and resumed sessions say it no second time.
func HeardOnce(it memory.Item) bool {
	r, err := RecordOf(it)
	return err == nil && r.Kind == memory.KindObservation && r.Times == 0 && r.Asked == 1
}

// Skill returns an observed procedure as the text of a SKILL.md, for a person to complete.
func (r *Record) Skill(name string) (string, error) {
	steps := scan.StepsOf(r.Text)
	if len(steps) == 0 {
		return "", fmt.Errorf("%s is not an observed procedure: %q", r.ID, r.Text)
	}
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "", fmt.Errorf("%q is not the name of a skill: use lower-case letters, digits and hyphens", name)
	}
	var b strings.Builder
	last := steps[len(steps)-1]
	fmt.Fprintf(&b, "---\nname: %s\ndescription: Use when you are about to run %s; these steps were %s.\n---\n\n", name, last, r.Why)
	for i, s := range steps {
		fmt.Fprintf(&b, "%d. Run `%s`. Go on only if it succeeds.\n", i+1, s)
	}
	if r.Session != "" {
		fmt.Fprintf(&b, "\nFirst seen in session %s, message %d.\n", r.Session, r.Message)
	}
	return b.String(), nil
}

// Shareable reports whether a record may be in the committed file: only rules and decisions may, the rest is
// personal.
func (r *Record) Shareable() bool { return r.Kind == memory.KindRule || r.Type == DecisionType }

// Known reports whether the record was confirmed in a session already, or comes from it.
func (r *Record) Known(session string) bool {
	in := func(s Seen) bool { return s.Session == session }
	return session != "" && (r.Session == session || slices.ContainsFunc(r.Seen, in))
}

// worth orders rules by what a session should be told first: more confirmations, then newer ones.
func worth(a, b *Record) int {
	return cmp.Or(cmp.Compare(b.Times, a.Times), b.Confirmed.Compare(a.Confirmed),
		cmp.Compare(a.Number, b.Number), cmp.Compare(a.ID, b.ID))
}
