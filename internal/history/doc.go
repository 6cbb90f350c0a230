// Package history moves between the states that the operation log records: undo, redo, accept, discard.
//
// Every command here is a txn.Transition built from log entries and carried out like any other, so each is itself an
// operation that can be undone, and a crash in the middle is put right in the same way.
package history
