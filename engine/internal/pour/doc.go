// Package pour makes the pours of a request: when one is due, by which routes it may be made, and whether what came of it
// is legal, fits and is worth it.
//
// What to change in a view is package policy's; here it is carried out in the state in which the conversation is. A
// route ([Probe] names one) makes decisions on a copy of the draft; the first whose view is right is taken.
package pour
