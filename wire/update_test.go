package wire_test

import "flag"

// update rewrites the expected parts of all golden files of the package.
var update = flag.Bool("update", false, "rewrite the golden files")
