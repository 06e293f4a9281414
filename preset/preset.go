// Package preset holds the policies by which a conversation is compacted, as data: when a pour is
// due, how far it goes, which reductions it may use, what stays verbatim, and how a summary is made
// and placed. A preset is a YAML file. The ones embedded here carry the numbers of the systems that
// Decant implements. A file of your own is read by the same rules; a key that does not exist is an
// error that names it.
package preset

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/yamltext"
)

//go:embed *.yaml
var files embed.FS

// A Preset is one policy. The zero value of a field means what the field says.
type Preset struct {
	Name  string `yaml:"name"`
	About string `yaml:"about"` // one sentence for people
	Base  string `yaml:"base"`  // embedded preset that holds for what the file leaves out; empty: none

	Trigger    Trigger    `yaml:"trigger"`
	Keep       Keep       `yaml:"keep"`
	Reduce     Reduce     `yaml:"reduce"`
	Summary    Summary    `yaml:"summary"`
	Flush      Flush      `yaml:"flush"`
	Native     Native     `yaml:"native"`
	Tools      Tools      `yaml:"tools"`
	EarlyPours EarlyPours `yaml:"early_pours"`

	// Prune says when Reduce.Always is made: PruneAtPours (or empty), or PruneEveryRequest, which rewrites what the
	// provider has cached as the results grow older.
	Prune Prune `yaml:"prune"`

	// Compaction says what a pour that is due leaves in place of old messages: CompactionSummary (or empty),
	// CompactionTrim or CompactionNever.
	Compaction Compacting `yaml:"compaction"`

	Notices Notices `yaml:"notices"`

	CheapReads Sizes `yaml:"cheap_reads"` // replaces the above for models with cheap cache reads
}

// Compacting is what becomes of old messages.
type Compacting string

// The values of Preset.Compaction.
const (
	CompactionSummary Compacting = "summary" // a record of them, after the reductions of what is old
	// the beginning and the end of their text, as agents did before they had summaries: nothing else is read or
	// reduced, and no model is asked
	CompactionTrim  Compacting = "trim"
	CompactionNever Compacting = "never" // everything stays until the window leaves no choice
)

// Notices are lines about pours for people who watch a gateway's standard error. Names in braces are
// replaced: {before}, {threshold}, {messages}, {summary}, {freed} and {error}. Empty ones are not printed.
type Notices struct {
	Due    string `yaml:"due"`    // when a pour is made: {before}, {threshold}, {messages}
	Done   string `yaml:"done"`   // behind it: {messages}, {summary}, {freed}
	Failed string `yaml:"failed"` // when the model's summary is not used, or a pour fails: {error}
}

// Sizes are settings that differ for a class of models. What a file leaves out stays as for any model.
type Sizes struct {
	First      *Trim       `yaml:"first_sight"`
	EarlyPours *EarlyPours `yaml:"early_pours"`
}

// cheapRead is the highest price of reading the cache, as a share of the price of input, of a model with cheap
// reads. An early pour pays late on such a model, so it must be worth more; text that is never written saves
// more.
const cheapRead = 0.05

// For returns p as it is for a model that reads its cache at the given share of the price of input.
func (p *Preset) For(read float64) *Preset {
	c := p.CheapReads
	if read > cheapRead+1e-9 || c == (Sizes{}) { // read is a quotient of prices, so it may be off by a rounding error
		return p
	}
	out := *p
	out.CheapReads = Sizes{}
	if c.First != nil {
		out.Reduce.First = *c.First
	}
	if c.EarlyPours != nil {
		out.EarlyPours = *c.EarlyPours
	}
	return &out
}

// Without returns the preset without a reduction.
func (p *Preset) Without(r decant.Reduction) *Preset {
	out, is := *p, func(other decant.Reduction) bool { return other == r }
	out.Reduce.Order = slices.DeleteFunc(slices.Clone(p.Reduce.Order), is)
	out.Reduce.Always = slices.DeleteFunc(slices.Clone(p.Reduce.Always), is)
	return &out
}

// Trigger says when a pour is due and how far it goes.
type Trigger struct {
	Tokens  int `yaml:"tokens"`  // due when the context is strictly larger; 0: window less the reserve
	Reserve int `yaml:"reserve"` // tokens kept free for the answer; 0: by the window and the output asked for
	// share of the room between fixed part and trigger that messages may take after a pour; 0: 0.5
	Target   float64 `yaml:"target"`
	Window   int     `yaml:"window"`   // most tokens of the model's window that are used; 0: all of it
	Messages int     `yaml:"messages"` // most messages of a view after a pour; never the reason for one; 0: no limit
	// due, whatever its size, when the view has so many of the model, and then all goes that Keep does not
	// name; 0: never for that
	Answers int `yaml:"answers"`
}

// Keep says what stays verbatim at the end and at the beginning of the conversation.
type Keep struct {
	Share    float64 `yaml:"share"`    // newest rounds, as a share of the target; 0: 0.2 when nothing else is set
	Messages int     `yaml:"messages"` // at least the newest so many messages, extended to whole rounds
	Turns    int     `yaml:"turns"`    // at least the newest so many turns
	First    bool    `yaml:"first"`    // the first message of the user stays in place
}

// Reduce lists the reductions of a pour in the order in which they are tried.
type Reduce struct {
	Order    []decant.Reduction `yaml:"order"`
	Always   []decant.Reduction `yaml:"always"` // reductions that are made even if the target does not ask for them
	Trim     Trim               `yaml:"trim"`
	Clear    Clear              `yaml:"clear"`
	Thinking Thinking           `yaml:"thinking"`
	First    Trim               `yaml:"first_sight"` // cut of a result when it enters; left out or off: none is cut
	// newest messages of the assistant whose results no pour changes, early ones included; 0: the kept tail
	// only
	Protect int `yaml:"protect"`
}

// Trim cuts a long tool result to its head and its tail.
type Trim struct {
	Over    int  `yaml:"over"`    // characters; shorter results stay whole; 0: 16,000, but at first sight no result is cut
	Head    int  `yaml:"head"`    // characters kept at the beginning; 0 like tail: 4,000 of both
	Tail    int  `yaml:"tail"`    // characters kept at the end
	After   int  `yaml:"after"`   // only results older than so many assistant messages
	Literal bool `yaml:"literal"` // exactly head, "..." and tail, even inside a line
}

// UnmarshalYAML reads sizes, or "off" for none.
func (t *Trim) UnmarshalYAML(unmarshal func(any) error) error {
	var word string
	if unmarshal(&word) == nil && (word == off || word == "false") { // off is a boolean to YAML 1.1
		*t = Trim{}
		return nil
	}
	type sizes Trim
	return unmarshal((*sizes)(t))
}

// Clear replaces an old tool result by a fixed text. Where both numbers are given, a result goes when it is older than
// both.
type Clear struct {
	After     int    `yaml:"after"`      // results older than so many assistant messages; 0: only by keep_calls
	KeepCalls int    `yaml:"keep_calls"` // the results of the newest so many calls stay; 0: only by after
	Least     int    `yaml:"least"`      // nothing is cleared that frees fewer tokens in all
	Text      string `yaml:"text"`
}

// Thinking says how much thinking stays.
type Thinking struct {
	Keep int `yaml:"keep"` // newest messages of the assistant with thinking that keep it; 0: those of the open round only
}

// Prune says how often old results are looked at.
type Prune string

// The values of Preset.Prune.
const (
	PruneAtPours      Prune = "at_pours"
	PruneEveryRequest Prune = "every_request"
)

// Tools says which tools' results may be changed. Patterns may hold "*" and ignore case.
type Tools struct {
	Include []string `yaml:"include"` // only these; empty: all
	Exclude []string `yaml:"exclude"` // never these; wins over include
	Pin     []string `yaml:"pin"`     // these stay verbatim, with the whole batch they were called in
	Cap     int      `yaml:"cap"`     // characters that every result is cut to; 0: no cap
}

// Names returns the names of the embedded presets, sorted.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic("preset: unreadable embedded files: " + err.Error())
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
	}
	slices.Sort(out)
	return out
}

// Load returns the preset of the given name. If the name holds a path separator or ends in .yaml or
// .yml, it names a file.
func Load(name string) (*Preset, error) {
	if IsFile(name) {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read preset: %w", err)
		}
		return Parse(name, data)
	}
	data, err := files.ReadFile(name + ".yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no preset named %q: there are %s, or name a file ending in .yaml", name,
			strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("read preset %s: %w", name, err)
	}
	return Parse(name, data)
}

// IsFile reports whether a name is that of a file with a preset, and not of one that comes with the program.
func IsFile(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// Parse reads a preset from YAML. It uses the file's name in errors, and as the name of a preset that
// has none. A key that does not exist or a value that is impossible is an error that names the key and
// its place. An empty file is an error too, because it is more often a mistake than a policy.
func Parse(file string, data []byte) (*Preset, error) {
	var p Preset
	if err := decode(file, data, &p); err != nil {
		return nil, err
	}
	if reflect.ValueOf(p).IsZero() {
		return nil, fmt.Errorf("preset %s: the file is empty", file)
	}
	if p.Base != "" {
		if err := p.over(file, data); err != nil {
			return nil, err
		}
	}
	if p.Name == "" {
		base := filepath.Base(file)
		p.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("preset %s: %w", file, err)
	}
	return &p, nil
}

// decode reads YAML over p.
func decode(file string, data []byte, p *Preset) error {
	if err := yamltext.Unmarshal(data, p, yaml.Strict()); err != nil {
		return fmt.Errorf("preset %s: %s", file, humanize.YAMLError(err, true))
	}
	return nil
}

// over makes p what its base says with what the file says in its place.
func (p *Preset) over(file string, data []byte) error {
	name := p.Name
	if strings.ContainsAny(p.Base, `/\`) || !slices.Contains(Names(), p.Base) {
		return fmt.Errorf("preset %s: base: no preset named %q: there are %s", file, p.Base, strings.Join(Names(), ", "))
	}
	base, err := Load(p.Base)
	if err != nil {
		return fmt.Errorf("preset %s: base: %w", file, err)
	}
	*p = *base
	p.Name = ""
	if err := decode(file, data, p); err != nil {
		return err
	}
	p.Name = name
	return nil
}
