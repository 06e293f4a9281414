package scan

import "testing"

// What a person orders is compared clause by clause: what is taken away is not what is kept, and who orders one thing says
// nothing about what stands beside it.
func TestOrdersAreComparedByTheirClauses(t *testing.T) {
	for _, c := range []struct {
		rule, said string
		want       Verdict
	}{
		{"Restart the staging server", "restart the staging server", Confirms},
		{"Restart the staging server", "delete the cache and restart everything on the staging server", neither},
		{"Don't remove the integration tests", "never remove the integration tests", Confirms},
		{"Don't remove the integration tests", "please remove the integration tests", Contradicts},
		{"Keep the integration tests", "please keep the integration tests", Confirms},
		{"Keep the integration tests", "please remove the integration tests", Contradicts},
		{"Commit and push when done", "now commit this and push it", Confirms},
		{"Commit and push when done", "there is a commit that nobody has pushed", neither},
		{"Run the linter before you commit", "don't forget to run the linter before you commit", Confirms},
		{"Use pnpm, not npm", "use pnpm, not npm", Confirms},
		{"Use pnpm, not npm", "use npm instead of pnpm", neither},
		{"Never push without a review", "never push without a review", Confirms},
		{"Start the worker", "the worker is not starting, look at the logs", neither},
	} {
		if got := compare(c.rule, c.said); got != c.want {
			t.Errorf("%q for %q: %s, want %s", c.said, c.rule, got, c.want)
		}
	}
}
