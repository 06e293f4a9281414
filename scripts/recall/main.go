// Recall measures whether the passages that are found in recorded sessions (package apps/notebook/passage, by which the tool
// recall of decant mcp answers) are those that an agent needed later.
//
// The sessions of a project, in the order of the arguments, are one history. At places in it, the 190,000 tokens before
// are indexed and nothing after. The questions come from the calls that the agent made within the next 60 messages:
//
//   - arguments: the values of the call's arguments, up to 400 bytes, as they are.
//   - paraphrase: what the agent said before the call and the description in it, without any exact string, and the parts
//     of the name that the call uses, in small letters and the other way round: "id checkpoint parse" for parseCheckpointID.
//
// The evidence is a string of the arguments (package internal/ruler: a name, a hash, an address, the last element of a
// path) that the indexed part has, that nothing has shown since the place, and that at most ten blocks of the indexed part
// hold; the rarest of the call. The question counts as answered if one of the first ten passages has that string. Blocks
// with the same text count once.
//
// With -records it measures records (package internal/summary) instead: of the strings that the model wrote in the next
// messages, how many a record has at all, on a line with the words that stood beside them, and between the two lines
// that stood around them; and of the lines that it quotes, how many have neither neighbour beside them, and how many have
// three words or fewer.
//
// usage: go run ./scripts/recall [-window TOKENS] [-misses N] [-records SHARE,...] PROJECT=FILE[,FILE...] ...
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	window := flag.Int("window", 190_000, "tokens that are indexed before a question")
	misses := flag.Int("misses", 0, "print this many questions of each kind without an answer")
	shares := flag.String("records", "", "measure records instead, of these shares of what they cover: .05,.1,.2")
	flag.Parse()
	for _, arg := range flag.Args() {
		project, files, ok := strings.Cut(arg, "=")
		if !ok {
			fmt.Fprintf(os.Stderr, "recall: %q: want PROJECT=FILE[,FILE...]\n", arg)
			os.Exit(2)
		}
		if *shares != "" {
			records(project, strings.Split(files, ","), strings.Split(*shares, ","))
			continue
		}
		h, err := read(strings.Split(files, ","))
		if err != nil {
			fmt.Fprintln(os.Stderr, "recall:", err)
			os.Exit(1)
		}
		r := h.measure(*window)
		for _, kind := range kinds {
			fmt.Printf("%s, %s\n", project, r[kind])
			for _, m := range r[kind].missed[:min(*misses, len(r[kind].missed))] {
				fmt.Printf("    %s\n", m)
			}
		}
	}
}

// records prints how records of a project's sessions can be read.
func records(project string, files, shares []string) {
	for _, s := range shares {
		share, err := strconv.ParseFloat(s, 64)
		if err != nil {
			fmt.Fprintf(os.Stderr, "recall: -records %q: want shares such as .1\n", s)
			os.Exit(2)
		}
		l, err := measureRecords(files, share)
		if err != nil {
			fmt.Fprintln(os.Stderr, "recall:", err)
			os.Exit(1)
		}
		fmt.Printf("%s, records of %s: %s\n", project, s, l)
	}
}
