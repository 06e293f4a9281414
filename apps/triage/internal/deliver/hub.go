package deliver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v89/github"
)

// A Hub is the repository on GitHub where issues are opened.
type Hub struct {
	client      *github.Client
	owner, name string
}

// NewHub returns the repository owner/name, asked with a client as code.GitHub makes it.
func NewHub(client *github.Client, repo string) (*Hub, error) {
	if !isRepo(repo) {
		return nil, fmt.Errorf("%q is not of the form owner/name", repo)
	}
	owner, name, _ := strings.Cut(repo, "/")
	return &Hub{client: client, owner: owner, name: name}, nil
}

// repo returns owner/name.
func (h *Hub) repo() string { return h.owner + "/" + h.name }

// An ours is an issue or a pull request that we have made.
type ours struct {
	mark
	number int
	url    string
	body   string
	open   bool
	reason string // why it was closed: "completed", "not_planned"; "reopened" of one that is open
	closed time.Time
	pull   bool
}

// mostPages is how many pages of a hundred issues are looked at.
const mostPages = 20

// ours returns what we have made, the newest first. The list, other than GitHub's search, knows at once what was made.
func (h *Hub) ours(ctx context.Context, label string) (out []ours, err error) {
	o := &github.IssueListByRepoOptions{State: "all", Labels: []string{label}, ListOptions: github.ListOptions{PerPage: 100, Page: 1}}
	for range mostPages {
		found, resp, err := h.client.Issues.ListByRepo(ctx, h.owner, h.name, o)
		if err != nil {
			return nil, hubRefusal(err)
		}
		for _, i := range found {
			if m, ok := readMark(i.GetBody()); ok {
				out = append(out, ours{mark: m, number: i.GetNumber(), url: i.GetHTMLURL(), body: i.GetBody(), open: i.GetState() == "open", reason: i.GetStateReason(), closed: i.GetClosedAt().Time, pull: i.IsPullRequest()})
			}
		}
		if resp.NextPage == 0 {
			break
		}
		o.ListOptions.Page = resp.NextPage
	}
	return out, nil
}

func (h *Hub) find(ctx context.Context, e *Entry) (*Made, error) {
	it := &e.Item
	if it.Kind == kindComment {
		return h.findComment(ctx, e)
	}
	if it.Kind == kindPull {
		return h.findPull(ctx, it)
	}
	label := defaultLabel
	if len(it.Labels) > 0 {
		label = it.Labels[0]
	}
	all, err := h.ours(ctx, label)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if !o.pull && o.mark.String() == it.Marker {
			return &Made{Number: o.number, URL: o.url}, nil
		}
	}
	return nil, nil
}

// findComment looks for a comment by its mark.
func (h *Hub) findComment(ctx context.Context, e *Entry) (*Made, error) {
	since := e.Time.Add(-time.Hour)
	o := &github.IssueListCommentsOptions{Since: &since, ListOptions: github.ListOptions{PerPage: 100, Page: 1}}
	for range mostPages {
		found, resp, err := h.client.Issues.ListComments(ctx, h.owner, h.name, e.Item.On, o)
		if err != nil {
			return nil, hubRefusal(err)
		}
		for _, c := range found {
			if m, ok := readMark(c.GetBody()); ok && m.String() == e.Item.Marker {
				return &Made{Number: e.Item.On, URL: c.GetHTMLURL()}, nil
			}
		}
		if resp.NextPage == 0 {
			break
		}
		o.Page = resp.NextPage
	}
	return nil, nil
}

func (h *Hub) send(ctx context.Context, it *Item) (*Made, error) {
	switch it.Kind {
	case kindComment:
		c, _, err := h.client.Issues.CreateComment(ctx, h.owner, h.name, it.On, &github.IssueComment{Body: &it.Text})
		if err != nil {
			return nil, hubRefusal(err)
		}
		return &Made{Number: it.On, URL: c.GetHTMLURL()}, nil
	case kindPull:
		return h.openPull(ctx, it)
	}
	i, _, err := h.client.Issues.Create(ctx, h.owner, h.name, &github.IssueRequest{Title: &it.Title, Body: &it.Text, Labels: &it.Labels})
	if err != nil {
		return nil, hubRefusal(err)
	}
	return &Made{Number: i.GetNumber(), URL: i.GetHTMLURL()}, nil
}

// hubRefusal says what an error of the client means.
func hubRefusal(err error) error {
	if e, ok := errors.AsType[*github.RateLimitError](err); ok {
		wait := time.Until(e.Rate.Reset.Time)
		return &refusal{err: fmt.Errorf("GitHub's limit of calls is reached until %s", e.Rate.Reset.UTC().Format("15:04:05 MST")), again: true, after: max(wait, 0)}
	}
	if e, ok := errors.AsType[*github.AbuseRateLimitError](err); ok {
		return &refusal{err: errors.New("GitHub wants fewer calls at a time"), again: true, after: e.GetRetryAfter()}
	}
	if e, ok := errors.AsType[*github.ErrorResponse](err); ok && e.Response != nil {
		return hubAnswer(e)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return &refusal{err: fmt.Errorf("reach GitHub: %w", err), again: true, unclear: true}
}

// hubAnswer says what an answer of GitHub means.
func hubAnswer(e *github.ErrorResponse) error {
	switch code := e.Response.StatusCode; {
	case code >= 500:
		return &refusal{err: fmt.Errorf("GitHub answers %d", code), again: true, unclear: true}
	case code == http.StatusTooManyRequests:
		return &refusal{err: errors.New("GitHub wants fewer calls at a time"), again: true}
	case code == http.StatusUnauthorized:
		return &refusal{err: errors.New("GitHub refuses GITHUB_TOKEN: it is wrong or has expired; make a new one with the rights to write issues, and contents and pull requests for pull_request: draft")}
	case code == http.StatusForbidden, code == http.StatusNotFound:
		return &refusal{err: fmt.Errorf("GitHub answers %d: %s; GITHUB_TOKEN needs the right to write issues of that repository, and contents and pull requests for pull_request: draft", code, e.Message)}
	case code == http.StatusGone:
		return &refusal{err: errors.New("the repository has no issues: switch them on in its settings, or name another one under issues")}
	}
	why := e.Message
	for _, one := range e.Errors {
		why += "; " + strings.TrimSpace(one.Field+" "+one.Message)
	}
	return &refusal{err: fmt.Errorf("GitHub refuses it: %s", why)}
}

// Check examines whether the token may write issues and, where pulls is set, branches.
func (h *Hub) Check(ctx context.Context, pulls bool) error {
	repo, _, err := h.client.Repositories.Get(ctx, h.owner, h.name)
	if err != nil {
		return hubRefusal(err)
	}
	if repo.HasIssues != nil && !repo.GetHasIssues() {
		return fmt.Errorf("%s has no issues: switch them on in its settings, or name another one under issues", h.repo())
	}
	if p := repo.GetPermissions(); p != nil && pulls && !p.GetPush() {
		return fmt.Errorf("GITHUB_TOKEN may not write to %s, which pull_request: draft needs: give it contents and pull requests, or say pull_request: off", h.repo())
	}
	return nil
}
