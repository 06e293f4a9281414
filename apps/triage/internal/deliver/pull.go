package deliver

import (
	"context"
	"maps"
	"slices"

	"github.com/google/go-github/v89/github"
)

// findPull looks for a pull request by its branch, which is named after its run.
func (h *Hub) findPull(ctx context.Context, it *Item) (*Made, error) {
	found, _, err := h.client.PullRequests.List(ctx, h.owner, h.name, &github.PullRequestListOptions{State: "all", Head: h.owner + ":" + it.Branch.Name})
	if err != nil {
		return nil, hubRefusal(err)
	}
	for _, p := range found {
		if p.GetHead().GetRef() == it.Branch.Name {
			return h.labelled(ctx, it, p)
		}
	}
	return nil, nil
}

// openPull makes the branch, and opens the draft. What of it was made before is used.
func (h *Hub) openPull(ctx context.Context, it *Item) (*Made, error) {
	repo, _, err := h.client.Repositories.Get(ctx, h.owner, h.name)
	if err != nil {
		return nil, hubRefusal(err)
	}
	if _, _, err := h.client.Repositories.GetCommitSHA1(ctx, h.owner, h.name, "heads/"+it.Branch.Name, ""); err != nil {
		if err := h.branch(ctx, it); err != nil {
			return nil, hubRefusal(err)
		}
	}
	p, _, err := h.client.PullRequests.Create(ctx, h.owner, h.name, &github.NewPullRequest{Title: &it.Title, Body: &it.Text, Head: &it.Branch.Name, Base: repo.DefaultBranch, Draft: new(true)})
	if err != nil {
		return nil, hubRefusal(err)
	}
	return h.labelled(ctx, it, p)
}

// labelled gives a pull request its labels, by which it is found later.
func (h *Hub) labelled(ctx context.Context, it *Item, p *github.PullRequest) (*Made, error) {
	if _, _, err := h.client.Issues.AddLabelsToIssue(ctx, h.owner, h.name, p.GetNumber(), it.Labels); err != nil {
		return nil, &refusal{err: hubRefusal(err), unclear: true, again: true} // the pull request is there: it is found and labelled again
	}
	return &Made{Number: p.GetNumber(), URL: p.GetHTMLURL()}, nil
}

// branch makes a branch with one commit.
func (h *Hub) branch(ctx context.Context, it *Item) error {
	b := it.Branch
	base, _, err := h.client.Repositories.GetCommit(ctx, h.owner, h.name, b.SHA, nil)
	if err != nil {
		return err
	}
	var entries []*github.TreeEntry
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		entries = append(entries, &github.TreeEntry{Path: new(name), Mode: new("100644"), Type: new("blob"), Content: new(b.Files[name])})
	}
	for _, name := range b.Gone {
		entries = append(entries, &github.TreeEntry{Path: new(name), Mode: new("100644"), Type: new("blob")})
	}
	tree, _, err := h.client.Git.CreateTree(ctx, h.owner, h.name, base.GetCommit().GetTree().GetSHA(), entries)
	if err != nil {
		return err
	}
	commit, _, err := h.client.Git.CreateCommit(ctx, h.owner, h.name, github.Commit{Message: new(it.Title), Tree: tree, Parents: []*github.Commit{{SHA: &b.SHA}}}, nil)
	if err != nil {
		return err
	}
	_, _, err = h.client.Git.CreateRef(ctx, h.owner, h.name, github.CreateRef{Ref: "refs/heads/" + b.Name, SHA: commit.GetSHA()})
	return err
}

// merged reports whether a pull request was merged.
func (h *Hub) merged(ctx context.Context, number int) (bool, error) {
	p, _, err := h.client.PullRequests.Get(ctx, h.owner, h.name, number)
	if err != nil {
		return false, hubRefusal(err)
	}
	return p.GetMerged(), nil
}
