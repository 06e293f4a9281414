// Package investigate finds out why an error happens: an agent reads the code that ran and answers with what it found and the lines that show
// it.
//
// What it answers is not believed as it stands. Check holds each piece of evidence against the lines that tools have shown the agent; what
// does not match is struck, and an answer that loses evidence loses confidence with it.
package investigate

// A State says what came of an investigation.
type State string

// The states.
const (
	RootCause    State = "root_cause"   // the cause is known, and evidence shows it
	Inconclusive State = "inconclusive" // it is not; Analysis.Cause is the strongest lead
)

// Confidence is how sure an analysis is.
type Confidence string

// The degrees of confidence, highest first.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// An Analysis is what an agent answers about an error. Its descriptions are what the model is told.
type Analysis struct {
	State      State      `json:"state" jsonschema:"inconclusive is a good answer where the code does not show the cause" enum:"root_cause,inconclusive"`
	Cause      string     `json:"cause" jsonschema:"what is wrong in the code and how it leads to this error; where inconclusive: the strongest lead"`
	Confidence Confidence `json:"confidence" enum:"high,medium,low"`
	Evidence   []Evidence `json:"evidence" jsonschema:"the lines that show it; each must be a line that a tool has shown you"`
	Suspect    *Suspect   `json:"suspect,omitempty" jsonschema:"the commit that brought it; only one whose change you have read"`
	Fix        string     `json:"fix,omitempty" jsonschema:"what to change"`
	Patch      string     `json:"patch,omitempty" jsonschema:"only where you are sure: the fix as a unified diff of git with a/ and b/ in front of the names, and in it a new test that fails without the fix"`
	Next       []string   `json:"next_steps,omitempty" jsonschema:"what a person should look at next"`
	Tags       []string   `json:"tags,omitempty" jsonschema:"a few words by which a similar error is found later"`
	Related    int        `json:"related,omitempty" jsonschema:"number of the earlier error of this run with the same cause"`
}

// Evidence is a line of code that shows something.
type Evidence struct {
	Repo string `json:"repo,omitempty" jsonschema:"as the tools name it; may be left out where there is one"`
	Path string `json:"path"`
	SHA  string `json:"sha,omitempty" jsonschema:"the commit at which it was shown"`
	Line int    `json:"line" jsonschema:"number of the first line quoted"`
	Text string `json:"text" jsonschema:"the line or lines, word for word"`
	Says string `json:"says,omitempty" jsonschema:"what it shows"`
}

// A Suspect is a commit that is said to have brought an error.
type Suspect struct {
	Repo string `json:"repo,omitempty"`
	SHA  string `json:"sha"`
	Why  string `json:"why,omitempty"`
}
