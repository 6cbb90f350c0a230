// Package txn changes the repository and the working tree, all or nothing.
//
//	tx, err := txn.Begin(ctx, r, options)  // lock, recover what died, photograph the state
//	tree := tx.Tree()                      // what a plan reads through
//	tx.Stage(changes)                      // what the plan found out so far
//	bracket, err := tx.Open(ctx, command)  // a barrier: that is on the disk, and a command may run
//	found, err := tx.Shut(ctx, bracket)    // what the command changed is part of the operation now
//	receipt, err := tx.Commit(t)           // or tx.Abort()
//
// Every state change of the product is a Transition, carried out in the same order: journal and snapshot, files, index,
// refs in one transaction, HEAD, journal gone. Until the refs have moved, a crash is answered by putting everything
// back; afterwards by finishing. The question is asked of the refs themselves, so there is no moment in between.
//
// States of the journal file:
//
//	absent                        nothing is under way
//	present, log ref not final    files and index may be half changed: roll back
//	present, log ref final        everything happened but HEAD and the cleaning up: finish
//
// On process exit nothing is cleaned up; the next command that finds the journal does it.
package txn
