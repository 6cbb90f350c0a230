package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// ID makes the id of a batch: the UTC second it was applied in and six hex digits of the reply's SHA-256.
func ID(at time.Time, reply []byte) string {
	sum := sha256.Sum256(reply)
	return at.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(sum[:3])
}
