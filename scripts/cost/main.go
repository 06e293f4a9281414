// Cost holds what the program costs against what was accepted, because nobody sees a program become dearer from one change
// to the next. It measures the size of the binary, processor time, memory, allocations, bytes of the database and the plans
// of all queries, compares them with testdata/cost.json, and fails where one is more than a quarter above.
//
// usage: go run ./scripts/cost [-accept]
//
// With -accept it writes the middle of what it measured four times to testdata/cost.json.
//
// No figure depends on how fast the machine is. Of the store and of the gateway allocations and bytes count. Of commands
// processor time counts, divided by that of a floor, which runs in turn with them: a process that does nothing, or one that
// decodes JSON and encodes it again. All are processes of one thread of Go, and the median of several runs counts. What seems
// dearer is measured again before it fails. Beside other programs, which take the caches, even such a ratio may rise by more
// than half: then processor time is printed and not judged. The guard needs Linux and no network.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

const (
	costFile = "testdata/cost.json"
)

func main() {
	if role, ok := roles[os.Getenv(roleVariable)]; ok {
		exit(role(os.Args[1:]))
	}
	accepting := flag.Bool("accept", false, "accept what the program costs now")
	flag.Parse()
	exit(run(*accepting))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(accepting bool) error {
	accepted, err := readCosts(costFile)
	if err != nil && !accepting {
		return err
	}
	now, err := measure(accepted, accepting)
	if err != nil {
		return err
	}
	dearer, hints := compare(os.Stdout, accepted, now)
	if accepting && now.Others > quiet {
		return fmt.Errorf("nothing was accepted: other programs use %.0f %% of the processors, and on a busy machine processor time rises by more than half", 100*now.Others)
	}
	if accepting {
		return now.write(costFile)
	}
	for _, s := range hints {
		fmt.Println("hint:", s)
	}
	for _, s := range dearer {
		fmt.Println("dearer:", s)
	}
	if len(dearer) > 0 {
		return errors.New("the program costs more than " + costFile + " accepts. Make it cheaper, or accept it and say why in the commit: go run ./scripts/cost -accept")
	}
	return nil
}

// tries is how often something is measured that seems to be dearer, and all that is accepted.
const tries = 4

// measure measures everything, first what needs a small process here: the most memory of a child is never less than this
// process has, from which it was made.
func measure(accepted *costs, accepting bool) (*costs, error) {
	m, err := newMachine()
	defer m.close()
	if err != nil {
		return nil, err
	}
	all := &costs{}
	for _, subject := range []func(*machine, *costs) error{binary, commands, files, commits, plans, shortTalks, longTalks} {
		before, err := others()
		if err != nil {
			return nil, err
		}
		c, err := m.figures(subject, accepted, accepting)
		if err != nil {
			return nil, err
		}
		after, err := others()
		if err != nil {
			return nil, err
		}
		all.Others = max(all.Others, before, after)
		all.Figures = append(all.Figures, c.Figures...)
		if c.Plans != nil {
			all.Plans = c.Plans
		}
	}
	return all, nil
}

// figures measures a subject until it is not dearer than accepted. The least of each figure counts: a busy machine only adds.
// What is accepted is the middle of several instead, or the next run would be held against the luckiest.
func (m *machine) figures(subject func(*machine, *costs) error, accepted *costs, accepting bool) (*costs, error) {
	var all []*costs
	for len(all) < tries {
		c := &costs{}
		if err := subject(m, c); err != nil {
			return nil, err
		}
		all = append(all, c)
		if !accepting && !least(all).above(accepted) {
			break
		}
	}
	if accepting {
		return pick(all, func(sorted []float64) float64 { return sorted[len(sorted)/2] }), nil
	}
	return least(all), nil
}
