package token

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/humanize"
)

//go:embed models.json
var builtin []byte

// A Catalog knows models by their id. It is not changed after it is made and is safe for
// concurrent use. The zero value knows none.
type Catalog struct {
	models map[string]Model
	dated  map[string]string // dated and other ids to id
	asOf   time.Time
}

// Builtin returns the catalogue that is part of the program.
func Builtin() (*Catalog, error) { return readBuiltin() }

var readBuiltin = sync.OnceValues(func() (*Catalog, error) { return (&Catalog{}).Add(builtin) })

// AsOf returns the day, UTC, on which the facts of the catalogue were last looked up. It is zero for the zero value.
func (c *Catalog) AsOf() time.Time { return c.asOf }

// Add returns a catalogue that also knows the models of src, a file in the form of the embedded
// models.json. It replaces known models as a whole. A src that says as_of dates the whole catalogue.
func (c *Catalog) Add(src []byte) (*Catalog, error) {
	var f catalogFile
	if err := json.Unmarshal(src, &f); err != nil {
		return nil, fmt.Errorf("read model catalogue: %w", humanize.JSONError(err))
	}
	out := &Catalog{models: map[string]Model{}, dated: map[string]string{}, asOf: c.asOf}
	if err := day(f.AsOf, &out.asOf); err != nil {
		return nil, fmt.Errorf("read model catalogue: as_of: %w", err)
	}
	maps.Copy(out.models, c.models)
	maps.Copy(out.dated, c.dated)
	for i := range f.Models {
		m, err := f.Models[i].model()
		if err != nil {
			return nil, fmt.Errorf("read model catalogue: models[%d] (%s): %w", i, f.Models[i].ID, err)
		}
		out.models[m.ID] = m
		for _, other := range append(f.Models[i].Aliases, f.Models[i].DatedID) {
			if other != "" {
				out.dated[other] = m.ID
			}
		}
	}
	return out, nil
}

// Read is Add for an open file.
func (c *Catalog) Read(r io.Reader) (*Catalog, error) {
	src, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read model catalogue: %w", err)
	}
	return c.Add(src)
}

// Models returns all models, sorted by provider and id.
func (c *Catalog) Models() []Model {
	return slices.SortedFunc(maps.Values(c.models), func(a, b Model) int {
		return strings.Compare(string(a.Provider)+"\x00"+a.ID, string(b.Provider)+"\x00"+b.ID)
	})
}

// Lookup returns the model that id names. It understands dated ids, what hosts and routers put around ids
// ("anthropic/", "litellm_proxy/", "us.anthropic.", "-v1:0", ":thinking") and the suffix that asks for a
// window of a million tokens ("[1m]"). For a model that the catalogue does not know it returns defaults
// (DefaultWindow, with Assumed set) and false.
func (c *Catalog) Lookup(id string) (Model, bool) {
	name, million := strings.CutSuffix(strings.ToLower(strings.TrimSpace(id)), "[1m]")
	m, ok := c.find(name)
	if !ok {
		m = unknown(bare(name))
	}
	if million {
		m.Window, m.Assumed = max(m.Window, 1_000_000), false
	}
	return m, ok
}

func (c *Catalog) find(name string) (Model, bool) {
	for _, try := range spellings(name) {
		if m, ok := c.models[try]; ok {
			return m, true
		}
		if m, ok := c.models[c.dated[try]]; ok {
			return m, true
		}
	}
	return Model{}, false
}

// spellings returns the ids that a name may mean, the likeliest first. Routers add words with a colon before
// the id or behind it.
func spellings(name string) []string {
	id := bare(name)
	out := []string{name, id, undated(id)}
	if before, after, ok := strings.Cut(id, ":"); ok {
		out = append(out, undated(bare(before)), undated(bare(after)))
	}
	if i := strings.Index(id, "claude-"); i > 0 { // "databricks-claude-opus-5"
		out = append(out, undated(id[i:]))
	}
	return out
}

// bare returns a model id without what hosts and routers put around it: a path of prefixes, a
// region and a maker ("us.anthropic."), and a revision ("-v1:0", "-v1", "@20250929", "@latest").
func bare(id string) string {
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:]
	}
	for _, maker := range []string{"anthropic.", "openai.", "google."} {
		if i := strings.Index(id, maker); i >= 0 {
			id = id[i+len(maker):]
		}
	}
	id = strings.TrimSuffix(strings.TrimSuffix(id, "@latest"), "@default")
	id = strings.ReplaceAll(id, "@", "-")
	return strings.TrimSuffix(unrevised(id), "-latest")
}

// revision is what Bedrock puts behind an id: "-v1:0", "-v1", "-v1:0:200k".
var revision = regexp.MustCompile(`-v\d+(:\d+(:\w+)?)?$`)

// unrevised returns id without a revision. An id without another number, such as "claude-v2", keeps it;
// models other than Claude keep "-v3".
func unrevised(id string) string {
	at := revision.FindStringSubmatchIndex(id)
	if at == nil || !strings.ContainsAny(id[:at[0]], "0123456789") || at[2] < 0 && !strings.HasPrefix(id, "claude-") {
		return id
	}
	return id[:at[0]]
}

// undated returns id without a date at its end, in either of the forms -20250929 and -2026-09-29.
// Claude ids written with a dot (claude-sonnet-4.5) get the catalogue's hyphen.
func undated(id string) string {
	if strings.HasPrefix(id, "claude") {
		id = strings.ReplaceAll(id, ".", "-")
	}
	for _, layout := range []string{"20060102", time.DateOnly} {
		cut := len(id) - len(layout)
		if cut < 1 || id[cut-1] != '-' {
			continue
		}
		if _, err := time.Parse(layout, id[cut:]); err == nil {
			return id[:cut-1]
		}
	}
	return id
}

// unknown returns what is assumed about a model that the catalogue does not know.
func unknown(id string) Model {
	return of(maker(id), id)
}

// of returns what is assumed of a provider's model.
func of(p Provider, id string) Model {
	m := Model{ID: id, Provider: p, Window: DefaultWindow, Assumed: true, MinCache: defaultMinCache}
	if p == OpenAI {
		m.MinCache, m.Forgets = 1024, true
	}
	m.Binds = m.Since(5, 1)
	m.Million = strings.Contains(id, "sonnet") && m.Since(4, 0) && !m.Since(4, 6)
	return m
}

// maker guesses the provider from a bare id.
func maker(id string) Provider {
	switch {
	case strings.HasPrefix(id, "claude"):
		return Anthropic
	case strings.HasPrefix(id, "gemini"):
		return Google
	}
	for _, p := range []string{"gpt-", "chatgpt", "codex", "o1", "o3", "o4"} {
		if strings.HasPrefix(id, p) {
			return OpenAI
		}
	}
	return ""
}

// catalogFile is the form of models.json. Null means not verified.
type catalogFile struct {
	AsOf   string       `json:"as_of"`
	Models []modelEntry `json:"models"`
}

type modelEntry struct {
	ID         string     `json:"id"`
	Provider   Provider   `json:"provider"`
	DatedID    string     `json:"dated_id"`
	Aliases    []string   `json:"aliases"` // other ids of the same model
	Status     string     `json:"status"`
	Released   string     `json:"released"`
	Deprecated string     `json:"deprecated"`
	Retires    string     `json:"retires"`
	Verified   string     `json:"verified"`
	Window     int        `json:"context_window"`
	MaxInput   int        `json:"max_input"`
	MaxOutput  int        `json:"max_output"`
	MinCache   int        `json:"min_cacheable_tokens"`
	Price      *priceRow  `json:"price_per_mtok"`
	Long       *priceRow  `json:"long_prompt_tier"`
	Fast       *priceRow  `json:"fast_price_per_mtok"`
	Until      string     `json:"price_valid_until"`
	Later      []priceRow `json:"later_prices"`
	Batch      float64    `json:"batch_multiplier"`
	Supports   abilities  `json:"supports"`
}

type abilities struct {
	Threshold bool           `json:"threshold_compaction"`
	OnDemand  bool           `json:"on_demand_compaction"`
	Editing   bool           `json:"context_editing"`
	Thinking  jsontext.Value `json:"thinking"`                // a list of modes, or one word
	Binds     jsontext.Value `json:"thinking_prefix_binding"` // true, false, or "dropped": see Model.Forgets
	ChatTools *bool          `json:"chat_tools_with_reasoning"`
}

type priceRow struct {
	From     string `json:"from"`
	Until    string `json:"until"`
	Above    int    `json:"above_prompt_tokens"`
	Input    Rate   `json:"input"`
	Output   Rate   `json:"output"`
	Read     Rate   `json:"cache_read"`
	Write5m  Rate   `json:"cache_write_5m"`
	Write1h  Rate   `json:"cache_write_1h"`
	Write12h Rate   `json:"cache_write_12h"`
}

// UnmarshalJSON reads a number, or null for a price that is not known.
func (r *Rate) UnmarshalJSON(src []byte) error {
	if string(src) == "null" {
		*r = Rate{}
		return nil
	}
	r.Known = true
	if err := json.Unmarshal(src, &r.USD); err != nil {
		return fmt.Errorf("price %s: want a number or null", src)
	}
	if r.USD < 0 {
		return fmt.Errorf("price %s: want zero or more", src)
	}
	return nil
}

func (e *modelEntry) model() (Model, error) {
	if e.ID == "" {
		return Model{}, fmt.Errorf("the model has no id")
	}
	if e.Window < 0 || e.MaxInput < 0 || e.MaxOutput < 0 || e.MinCache < 0 {
		return Model{}, fmt.Errorf("a limit is negative")
	}
	m := of(cmp.Or(e.Provider, maker(e.ID)), e.ID)
	if e.Window > 0 {
		m.Window, m.Assumed = e.Window, false
	}
	if e.MinCache > 0 {
		m.MinCache = e.MinCache
	}
	m.Status, m.MaxInput, m.MaxOutput, m.Batch = e.Status, e.MaxInput, e.MaxOutput, e.Batch
	s := &e.Supports
	m.Threshold, m.OnDemand, m.Editing = s.Threshold, s.OnDemand, s.Editing
	m.NoChatCall = s.ChatTools != nil && !*s.ChatTools
	switch string(s.Binds) {
	case "", "null":
	case "true", "false":
		m.Binds, m.Forgets = string(s.Binds) == "true", false
	case `"dropped"`:
		m.Binds, m.Forgets = false, true
	default:
		return Model{}, fmt.Errorf(`thinking_prefix_binding %s: want true, false or "dropped"`, s.Binds)
	}
	err := e.days(&m)
	if err != nil {
		return Model{}, err
	}
	if m.Thinking, err = modes(s.Thinking); err != nil {
		return Model{}, err
	}
	m.Prices, err = e.prices()
	return m, err
}

// days reads the days of a model's life.
func (e *modelEntry) days(m *Model) error {
	for _, d := range []struct {
		name, text string
		to         *time.Time
	}{{"released", e.Released, &m.Released}, {"deprecated", e.Deprecated, &m.Deprecated}, {"retires", e.Retires, &m.Retires}, {"verified", e.Verified, &m.Verified}} {
		if err := day(d.text, d.to); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	return nil
}

func modes(v jsontext.Value) ([]string, error) {
	switch v.Kind() {
	case '[':
		var list []string
		if err := json.Unmarshal(v, &list); err != nil {
			return nil, fmt.Errorf("supports.thinking: %w", err)
		}
		return list, nil
	case '"':
		var one string
		if err := json.Unmarshal(v, &one); err != nil {
			return nil, fmt.Errorf("supports.thinking: %w", err)
		}
		return []string{one}, nil
	}
	return nil, nil
}

func (e *modelEntry) prices() ([]Price, error) {
	if e.Price == nil {
		return nil, nil
	}
	first := *e.Price
	if first.Until == "" {
		first.Until = e.Until
	}
	var out []Price
	for _, row := range append([]priceRow{first}, e.Later...) {
		p, err := row.price()
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if e.Long != nil {
		out[0].LongAbove, out[0].Long = e.Long.Above, e.Long.rates()
	}
	if e.Fast != nil {
		out[0].Fast = e.Fast.rates()
	}
	slices.SortStableFunc(out, func(a, b Price) int { return a.From.Compare(b.From) })
	return out, nil
}

func (r *priceRow) price() (Price, error) {
	p := Price{Rates: r.rates()}
	for _, d := range []struct {
		text string
		to   *time.Time
	}{{r.From, &p.From}, {r.Until, &p.Until}} {
		if err := day(d.text, d.to); err != nil {
			return p, fmt.Errorf("price: %w", err)
		}
	}
	return p, nil
}

// day reads a day into to. An empty text leaves to as it is.
func day(text string, to *time.Time) error {
	if text == "" {
		return nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return fmt.Errorf("date %q: want YYYY-MM-DD", text)
	}
	*to = t
	return nil
}

func (r *priceRow) rates() Rates {
	out := Rates{Input: r.Input, Output: r.Output, CacheRead: r.Read, Write5m: r.Write5m, Write1h: r.Write1h}
	if !out.Write1h.Known {
		out.Write1h = r.Write12h
	}
	return out
}
