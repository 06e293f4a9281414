package preset

import (
	"cmp"
	"fmt"
	"time"
)

// Summary says how a checkpoint is made.
type Summary struct {
	Placement string `yaml:"placement"`  // "message" or "append"; empty: message
	Begin     string `yaml:"begin"`      // marker before the summary; empty: Decant's own heading only
	End       string `yaml:"end"`        // marker after it
	Reply     string `yaml:"reply"`      // answer of the assistant that is put in if two user messages would meet
	MaxTokens int    `yaml:"max_tokens"` // most tokens of a summary; 0: what the target leaves
	// least score of a record, 0 to 1, see decant.Checkpoint; a record below it is made, and announced
	MinScore float64  `yaml:"min_score"`
	Fallback HeadTail `yaml:"fallback"` // last rung
	Preview  Preview  `yaml:"preview"`  // how much of each tool result the summariser reads
	// characters of tool results that it reads; the middle ones are dropped first; 0: no limit
	MaxInput int    `yaml:"max_input"`
	Quotes   string `yaml:"quotes"` // whether a summary quotes what tools returned: "lines" or "none"; empty: lines

	// Model names the model that writes summaries: an id, a class such as "haiku" (the cheapest current model of
	// that class from the conversation's provider) or "off". If it is empty, the operator's configuration
	// decides. No model is asked where the operator has configured none.
	Model string `yaml:"model"`

	// Instructions say what a summary has to preserve and what it may discard, in at most MaxInstructions characters.
	// Whoever asks a model passes them on as text and does not take structure from them.
	Instructions string `yaml:"instructions"`

	Chunk   Chunk   `yaml:"chunk"`
	Timeout Timeout `yaml:"timeout"`
	Retry   Retry   `yaml:"retry"`

	// how many tokens before the trigger the next summary is prepared; left out: 20,000; off: never
	Ahead Ahead `yaml:"ahead"`
}

// maxInstructions is the most characters of Summary.Instructions and of Flush.Prompt.
const maxInstructions = 4000

// Chunk says how a model reads what is too long for one call. If a field is zero, it has the default value of
// Settled.
type Chunk struct {
	Ratio    float64 `yaml:"ratio"`    // share of the model's window that a chunk has; less where messages are large
	Least    float64 `yaml:"least"`    // the ratio never falls below this share
	Margin   float64 `yaml:"margin"`   // estimates are multiplied by this
	Overhead int     `yaml:"overhead"` // tokens of each call kept free for the prompt and the answer
}

// Settled returns c with 0.4, 0.15, 1.2 and 4,096 tokens in fields that are zero.
func (c Chunk) Settled() Chunk {
	return Chunk{
		Ratio: cmp.Or(c.Ratio, 0.4), Least: cmp.Or(c.Least, 0.15), Margin: cmp.Or(c.Margin, 1.2),
		Overhead: cmp.Or(c.Overhead, 4096),
	}
}

// Timeout says how long a summary may take. If a field is zero, it has the default value of Settled.
type Timeout struct {
	Background time.Duration `yaml:"background"` // beside the conversation
	Foreground time.Duration `yaml:"foreground"` // while a request waits
}

// Settled returns t with 180 and 20 seconds in fields that are zero.
func (t Timeout) Settled() Timeout {
	return Timeout{Background: cmp.Or(t.Background, 180*time.Second), Foreground: cmp.Or(t.Foreground, 20*time.Second)}
}

// Retry says when a call that a provider put off is made again. The zero value leaves that to the provider's client. A
// provider's retry-after counts more than these numbers.
type Retry struct {
	Attempts int           `yaml:"attempts"` // calls in all; 0: as many as the provider's client makes
	Least    time.Duration `yaml:"least"`    // before the second call; doubled before each further one
	Most     time.Duration `yaml:"most"`     // longest wait
	Jitter   time.Duration `yaml:"jitter"`   // up to so much is added to each wait at random
}

// Ahead is a number of tokens before a limit. The zero value means the default.
type Ahead int

// aheadOff is how "off" is kept.
const aheadOff Ahead = -1

// Tokens returns the number of tokens, and 0 where nothing is prepared ahead.
func (a Ahead) Tokens() int {
	switch {
	case a < 0:
		return 0
	case a == 0:
		return 20_000
	}
	return int(a)
}

// UnmarshalYAML reads a number of tokens, or "off" (or 0) for never.
func (a *Ahead) UnmarshalYAML(unmarshal func(any) error) error {
	if isOff(unmarshal) {
		*a = aheadOff
		return nil
	}
	var n int
	if err := unmarshal(&n); err != nil {
		return err
	}
	if n < 0 {
		return fmt.Errorf("summary.ahead: %d is negative", n)
	}
	if *a = Ahead(n); n == 0 {
		*a = aheadOff
	}
	return nil
}

// isOff reports whether a value is the word "off", which YAML 1.1 takes for a boolean.
func isOff(unmarshal func(any) error) bool {
	var word string
	return unmarshal(&word) == nil && (word == off || word == "false")
}

// HeadTail is a text cut to its two ends, in characters.
type HeadTail struct {
	Head int `yaml:"head"`
	Tail int `yaml:"tail"`
}

// Preview is how much of a tool result is shown. The zero value is all of it.
type Preview struct {
	Over int `yaml:"over"` // characters; shorter results are shown whole
	Head int `yaml:"head"`
	Tail int `yaml:"tail"`
}
