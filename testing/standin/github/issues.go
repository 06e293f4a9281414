package github

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An issue is one, or a pull request.
type issue struct {
	number   int
	title    string
	body     string
	labels   []string
	state    string // "open" or "closed"
	reason   string // why it was closed: "completed", "not_planned"
	created  time.Time
	updated  time.Time
	comments []comment

	head, base string // branches of a pull request
	draft      bool
	merged     bool
}

// A comment is one of an issue.
type comment struct {
	id   int
	body string
	at   time.Time
}

var bot = object{"login": "decant-triage", "id": 1, "type": "Bot"}

// issue returns an issue as GitHub sends it.
func (c *call) issue(i *issue) object {
	labels := []object{}
	for n, l := range i.labels {
		labels = append(labels, object{"id": n + 1, "name": l, "color": "ededed"})
	}
	o := object{"id": 1000 + i.number, "number": i.number, "title": i.title, "body": i.body, "state": i.state, "labels": labels, "comments": len(i.comments), "user": bot,
		"created_at": i.created.UTC().Format(time.RFC3339), "updated_at": i.updated.UTC().Format(time.RFC3339), "url": c.api("/issues/" + strconv.Itoa(i.number)),
		"html_url": c.html("/issues/" + strconv.Itoa(i.number)), "author_association": "NONE", "assignees": []object{}}
	if i.reason != "" {
		o["state_reason"] = i.reason
	}
	if i.state == "closed" {
		o["closed_at"] = o["updated_at"]
	}
	if i.head != "" {
		at := c.api("/pulls/" + strconv.Itoa(i.number))
		o["pull_request"] = object{"url": at, "html_url": c.html("/pull/" + strconv.Itoa(i.number)), "diff_url": nil, "patch_url": nil}
	}
	return o
}

// find returns the issue that a path names. The repository must be locked.
func (c *call) find(name string) (*issue, *apiError) {
	n, err := strconv.Atoi(c.path[name])
	if err != nil || n < 1 || n > len(c.repo.issues) {
		return nil, notFound()
	}
	return c.repo.issues[n-1], nil
}

func (c *call) listIssues() (int, any, *apiError) {
	c.repo.mu.Lock()
	defer c.repo.mu.Unlock()
	q := c.r.URL.Query()
	state := q.Get("state")
	if state == "" {
		state = "open"
	}
	var found []*issue
	for _, i := range slices.Backward(c.repo.issues) {
		if (state == "all" || i.state == state) && hasLabels(i, q.Get("labels")) {
			found = append(found, i)
		}
	}
	out := []object{}
	for _, i := range page(c, found) {
		out = append(out, c.issue(i))
	}
	return http.StatusOK, out, nil
}

// hasLabels reports whether an issue has all of some labels, which commas separate.
func hasLabels(i *issue, all string) bool {
	for l := range strings.SplitSeq(all, ",") {
		if l != "" && !slices.Contains(i.labels, l) {
			return false
		}
	}
	return true
}

// newIssueBody is what is sent to open an issue, or to change one.
type newIssueBody struct {
	Title  json.RawMessage   `json:"title"`
	Body   *string           `json:"body"`
	State  string            `json:"state"`
	Reason *string           `json:"state_reason"`
	Labels []json.RawMessage `json:"labels"`
}

// apply writes what was sent into an issue.
func (b *newIssueBody) apply(i *issue, now time.Time) {
	if len(b.Title) > 0 {
		i.title = strings.TrimSpace(labelName(b.Title))
	}
	if b.Body != nil {
		i.body = *b.Body
	}
	if b.State != "" && b.State != i.state {
		if i.state = b.State; i.state == "closed" {
			i.reason = "completed"
		} else {
			i.reason = "reopened"
		}
	}
	if b.Reason != nil {
		i.reason = *b.Reason
	}
	if b.Labels != nil {
		i.labels = nil
		for _, l := range b.Labels {
			i.labels = append(i.labels, labelName(l))
		}
	}
	i.updated = now
}

// labelName returns a name that is sent as a string or as an object.
func labelName(data json.RawMessage) string {
	var s string
	if json.Unmarshal(data, &s) == nil {
		return s
	}
	var o struct{ Name string }
	if json.Unmarshal(data, &o) == nil && o.Name != "" {
		return o.Name
	}
	return string(data)
}

func (c *call) newIssue() (int, any, *apiError) {
	b, err := read[newIssueBody](c)
	if err != nil {
		return 0, nil, err
	}
	c.repo.mu.Lock()
	defer c.repo.mu.Unlock()
	now := c.s.opts.Now()
	i := &issue{number: len(c.repo.issues) + 1, state: "open", created: now}
	if b.apply(i, now); i.title == "" || len(i.title) > 256 {
		return 0, nil, &apiError{status: http.StatusUnprocessableEntity, message: "Validation Failed", errors: []object{{"resource": "Issue", "field": "title", "code": "invalid"}}}
	}
	if len(i.body) > 65536 {
		return 0, nil, &apiError{status: http.StatusUnprocessableEntity, message: "Validation Failed",
			errors: []object{{"resource": "Issue", "field": "body", "code": "custom", "message": "body is too long (maximum is 65536 characters)"}}}
	}
	c.repo.issues = append(c.repo.issues, i)
	return http.StatusCreated, c.issue(i), nil
}

func (c *call) getIssue() (int, any, *apiError) {
	c.repo.mu.Lock()
	defer c.repo.mu.Unlock()
	i, err := c.find("issue_number")
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.issue(i), nil
}

func (c *call) editIssue() (int, any, *apiError) {
	b, err := read[newIssueBody](c)
	if err != nil {
		return 0, nil, err
	}
	c.repo.mu.Lock()
	defer c.repo.mu.Unlock()
	i, err := c.find("issue_number")
	if err != nil {
		return 0, nil, err
	}
	b.apply(i, c.s.opts.Now())
	return http.StatusOK, c.issue(i), nil
}

// comment returns a comment as GitHub sends it.
func (c *call) comment(i *issue, m comment) object {
	at := m.at.UTC().Format(time.RFC3339)
	return object{"id": m.id, "body": m.body, "user": bot, "created_at": at, "updated_at": at, "url": c.api("/issues/comments/" + strconv.Itoa(m.id)), "author_association": "NONE",
		"html_url": c.html("/issues/" + strconv.Itoa(i.number) + "#issuecomment-" + strconv.Itoa(m.id)), "issue_url": c.api("/issues/" + strconv.Itoa(i.number))}
}

func (c *call) listComments() (int, any, *apiError) {
	c.repo.mu.Lock()
	defer c.repo.mu.Unlock()
	i, err := c.find("issue_number")
	if err != nil {
		return 0, nil, err
	}
	out := []object{}
	for _, m := range page(c, i.comments) {
		out = append(out, c.comment(i, m))
	}
	return http.StatusOK, out, nil
}

func (c *call) newComment() (int, any, *apiError) {
	b, err := read[struct{ Body string }](c)
	if err != nil {
		return 0, nil, err
	}
	c.repo.mu.Lock()
	defer c.repo.mu.Unlock()
	i, err := c.find("issue_number")
	if err != nil {
		return 0, nil, err
	}
	m := comment{id: 10_000*i.number + len(i.comments) + 1, body: b.Body, at: c.s.opts.Now()}
	i.comments, i.updated = append(i.comments, m), m.at
	return http.StatusCreated, c.comment(i, m), nil
}

func (c *call) addLabels() (int, any, *apiError) {
	b, err := read[struct{ Labels []json.RawMessage }](c)
	if err != nil {
		return 0, nil, err
	}
	c.repo.mu.Lock()
	defer c.repo.mu.Unlock()
	i, err := c.find("issue_number")
	if err != nil {
		return 0, nil, err
	}
	for _, l := range b.Labels {
		if name := labelName(l); !slices.Contains(i.labels, name) {
			i.labels = append(i.labels, name)
		}
	}
	return http.StatusOK, c.issue(i)["labels"], nil
}

// searchIssues finds issues and pull requests.
func (c *call) searchIssues() (int, any, *apiError) {
	q := parseQuery(c.r.URL.Query().Get("q"))
	found := []object{}
	for name, r := range c.s.repos {
		if len(q.repos) > 0 && !slices.ContainsFunc(q.repos, func(want string) bool { return strings.EqualFold(want, name) }) {
			continue
		}
		r.mu.Lock()
		c.repo = r
		for _, i := range slices.Backward(r.issues) {
			if q.finds(i) {
				o := c.issue(i)
				o["repository_url"], o["score"] = c.api(""), 1
				found = append(found, o)
			}
		}
		r.mu.Unlock()
	}
	return http.StatusOK, object{"total_count": len(found), "incomplete_results": false, "items": page(c, found)}, nil
}

// finds reports whether a query finds an issue.
func (q *query) finds(i *issue) bool {
	if q.state != "" && q.state != i.state || q.kind != "" && (q.kind == "pr") != (i.head != "") {
		return false
	}
	for _, l := range q.labels {
		if !slices.Contains(i.labels, l) {
			return false
		}
	}
	text := i.title + "\n" + i.body
	switch q.in {
	case "title":
		text = i.title
	case "body":
		text = i.body
	}
	for _, w := range q.words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
			return false
		}
	}
	return true
}
