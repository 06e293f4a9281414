// Package lineage finds out whose conversation a request is: which stored conversation it goes on with, replaces the end of,
// amends or leaves ([Finder.Find]), what is in force for it there ([Match.Applicable]), and which references its blocks have
// ([References]). It keeps the conversations that were used last in memory ([Cache]) and checks them against the store on
// every request. docs/INTERNALS.md has the rules ("Whose conversation a request is").
package lineage
