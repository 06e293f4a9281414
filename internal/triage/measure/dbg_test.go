package measure_test
import ("testing";"fmt";"github.com/decantdev/decant/internal/triage/report";"encoding/json")
func dbg(t *testing.T, e *report.Error) { b,_ := json.Marshal(e.Case); fmt.Printf("%.1500s\n  => %v %s calls=%d err=%s examined=%v ev=%v struck=%v\n", b, e.Finding.State, e.Finding.Cause, e.Finding.Calls, e.Finding.Error, e.Finding.Examined, e.Finding.Evidence, e.Finding.Struck) }
