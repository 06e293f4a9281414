package fact_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/fact"
)

// Each file of testdata/standing has sentences with a reader's label: of one project, on which the words were chosen, of
// others, and made up in seven languages. Of what counts as a standing order most has to be one, and few may be missed.
func TestStandingOrdersAreToldFromWishes(t *testing.T) {
	files, err := filepath.Glob("testdata/standing/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files: ", err)
	}
	found, right, all := 0, 0, 0 // in all files
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimSpace(line)
			want := strings.HasPrefix(line, "+ ")
			if !want && !strings.HasPrefix(line, "- ") {
				continue
			}
			got := len(fact.Standings(line[2:])) > 0
			switch {
			case want && got:
				right++
				fallthrough
			case got:
				found++
			}
			if want {
				all++
			}
			if got != want {
				t.Logf("%s: %v for %q", filepath.Base(name), got, line)
			}
		}
		t.Logf("up to %s: %d of %d found are orders; %d of %d orders found", filepath.Base(name), right, found, right, all)
	}
	if right*100 < found*95 || right*100 < all*90 {
		t.Errorf("%d of %d found are orders, %d of %d orders found: want 95 %% and 90 %%", right, found, right, all)
	}
}
