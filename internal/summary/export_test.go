package summary

// Repair returns text with missing facts appended, as Accept does it.
var Repair = repair
