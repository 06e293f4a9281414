// Jobsearch writes a project in which a conversation outgrows its window: a prompt with a rubric, and three rounds of postings with about 85,000
// tokens. Weights, ratings and addresses are drawn anew each time, so who knows them has read them.
//
//	go run ./examples/jobsearch search && cd search
//	decant chat --sandbox --db chat.db -f "Execute the job search prompt from search-prompt.txt"
//
// docs/CHAT.md says how it goes on.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: jobsearch FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "jobsearch:", err)
		os.Exit(1)
	}
}

const (
	rounds = 3
	pages  = 3 // files in a round
	jobs   = 3 // on a page
)

// write writes the project into a new folder.
func write(folder string) error {
	if err := os.Mkdir(folder, 0o777); err != nil {
		return err
	}
	files := map[string]string{"search-prompt.txt": fmt.Sprintf("Score jobs by this rubric: stack %d points, pay %d, team %d.\nReport score and URL of each.\nNever list jobs at Acme Corp.\n",
		1+rand.IntN(9), 1+rand.IntN(9), 1+rand.IntN(9))}
	for n := range rounds * pages {
		page := ""
		for i := range jobs {
			page += posting(n*jobs + i + 1)
		}
		files[fmt.Sprintf("round%d%c.txt", n/pages+1, 'a'+n%pages)] = page
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

var words = strings.Fields("we are a growing company with friendly people and flat hierarchies who build what others use every day " +
	"our office is in the old harbour near the park you work from where you like and meet twice in spring for planning")

// posting returns a job of about 12,000 characters. Nothing but its first line says how it rates.
func posting(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Job %d: Gopher at Firm%d. stack %d/10, pay %d/10, team %d/10. https://jobs.example.com/%08x\n\n",
		n, n, 1+rand.IntN(10), 1+rand.IntN(10), 1+rand.IntN(10), rand.Uint32())
	for b.Len() < 12_000 {
		for range 9 {
			b.WriteString(words[rand.IntN(len(words))] + " ")
		}
		b.WriteString("so.\n")
	}
	return b.String() + "\n"
}
