// Package repo is the only room that speaks git.
//
// Objects are read through one long-lived git cat-file, so every storage git knows works; they are encoded and decoded
// with go-git's object model and written loose. Refs, HEAD and the index are moved by the git program, since other git
// processes can race for them; reading the index, looking for changes in the working tree and deciding what is ignored
// are ours, since they are where the time goes. git is the oracle for all three, in tests.
//
// Source of truth: Documentation/gitformat-index.txt, gitignore.txt, gitattributes.txt and git's dir.c.
package repo
