package command

import "errors"

// End calls the functions that end what a command has begun, the newest first.
func End(clean []func() error) (err error) {
	for i := len(clean) - 1; i >= 0; i-- {
		err = errors.Join(err, clean[i]())
	}
	return err
}

// Switch returns how a setting is written that a flag turns on.
func Switch(flag bool) string {
	if flag {
		return "true"
	}
	return ""
}
