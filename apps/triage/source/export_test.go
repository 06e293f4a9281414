package source

// For the tests of services, which are outside of the package: the stand-ins that they use import it.
const MaxRows = mostRows

var (
	Short         = short
	ErrCredential = errCredential
	ErrRight      = errRight
	ErrBusy       = errBusy
	TimeOfTry     = timeOfTry
)
