// Package parse turns a model's reply into a batch.
//
// A reply is prose with blocks in it. One scan goes over its lines from the top; at every line each dialect of the
// registry is asked whether one of its blocks opens there, and the one that does owns the block's whole extent. What
// is inside is content, whatever it looks like, so a reply may mix dialects and may quote any of them.
//
// Promises: parsing never executes anything, never touches the disk, never panics, takes time linear in the reply,
// and reports every problem with line, column and hint. The grammar of each dialect stands at the top of its file.
package parse
