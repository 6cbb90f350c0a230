// Package apply is the pure core: it works out what a batch does to a tree of files.
//
//	cs := apply.Plan(batch, tree, options)
//
// Plan reads through the Tree interface and computes on an overlay in memory; it touches no disk, no git and no clock,
// so checking, verifying and replaying a batch are the same plan over another tree. A failed task changes nothing; what
// the others do is in the Changeset, one Change for each path that ends up different.
package apply
