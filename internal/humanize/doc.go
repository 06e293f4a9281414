// Package humanize puts numbers, and what decoders complain about, into words for people.
package humanize
