package notebook

// The names of files, for tests.
const (
	ContextsFile           = contextsFile
	DecisionsFile          = decisionsFile
	DoneFile               = doneFile
	ObservationArchiveFile = observationArchiveFile
	ObservationsFile       = observationsFile
	RulesFile              = rulesFile
	TaskArchiveFile        = taskArchiveFile
)

// FileNames are the Markdown files, for tests.
var FileNames = fileNames
