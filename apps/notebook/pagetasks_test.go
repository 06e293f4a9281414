package notebook

import (
	"slices"
	"testing"
)

func TestNamesOfTasksAreInTheOrderOfTheirNumbers(t *testing.T) {
	names := []string{"OPS-7", "TASK-2", "TASK-02", "TASK-9", "TASK-32", "TASK-100", "task"}
	got := slices.Clone(names)
	slices.Sort(got)
	slices.SortFunc(got, byName)
	if slices.Index(got, "TASK-9") > slices.Index(got, "TASK-32") || slices.Index(got, "TASK-32") > slices.Index(got, "TASK-100") || slices.Index(got, "OPS-7") > slices.Index(got, "TASK-2") {
		t.Errorf("got %q", got)
	}
	for _, a := range names {
		for _, b := range names {
			if byName(a, b) != -byName(b, a) || byName(a, b) == 0 && a != b {
				t.Errorf("%q and %q have no order", a, b)
			}
		}
	}
}
