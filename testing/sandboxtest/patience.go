package sandboxtest

import (
	"time"

	"github.com/decantdev/decant/engine"
)

// Patient is how long an engine may work on a request where a machine is busy with many tests: a test that expects a pour
// must not miss it because the second was over in which it has to be planned.
var Patient = engine.Timeouts{Optional: time.Minute, Required: time.Minute}
