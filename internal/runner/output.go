package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"sync"
)

// Output is what a program wrote.
type Output struct {
	Stdout, Stderr []byte
	Lines          []string // both streams, in the order in which their lines came, without line ends
	Truncated      bool     // it wrote more than was kept
	Bytes          int64    // that it wrote, kept or not
}

// Sum gives the SHA-256 of what was kept, standard output first, in hexadecimal.
func (o *Output) Sum() string {
	h := sha256.New()
	h.Write(o.Stdout)
	h.Write(o.Stderr)
	return hex.EncodeToString(h.Sum(nil))
}

// TruncatedLine stands where output was cut.
const TruncatedLine = "[output truncated]"

// maxLine is the longest line that is waited for, in bytes; longer ones come in pieces.
const maxLine = 8 << 10

type stream int

const (
	stdout stream = iota
	stderr
)

// collector keeps what two streams write, up to a limit for both together, and passes it on line by line. Beyond the
// limit it reads on, so that the program is never blocked, and forgets.
type collector struct {
	mu    sync.Mutex
	room  int64
	live  func(string)
	out   Output
	kept  [2]bytes.Buffer
	begun [2][]byte // an unfinished line of each stream
}

func newCollector(most int64, live func(string)) *collector {
	return &collector{room: most, live: live}
}

// read reads a stream to its end, or to the deadline that was set on it.
func (c *collector) read(s stream, r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			c.add(s, buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (c *collector) add(s stream, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.Bytes += int64(len(text))
	if c.out.Truncated {
		return
	}
	over := int64(len(text)) > c.room
	text = text[:min(int64(len(text)), c.room)]
	c.room -= int64(len(text))
	c.kept[s].Write(text)
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			break
		}
		c.line(append(c.begun[s], text[:end]...))
		c.begun[s] = c.begun[s][:0]
		text = text[end+1:]
	}
	c.begun[s] = append(c.begun[s], text...)
	for len(c.begun[s]) > maxLine {
		c.line(c.begun[s][:maxLine])
		c.begun[s] = append(c.begun[s][:0], c.begun[s][maxLine:]...)
	}
	if over {
		c.out.Truncated = true
		c.finishLines()
		c.line([]byte(TruncatedLine))
	}
}

// line passes on a line. A CR before the line end belongs to it.
func (c *collector) line(text []byte) {
	s := string(bytes.TrimSuffix(text, []byte("\r")))
	c.out.Lines = append(c.out.Lines, s)
	if c.live != nil {
		c.live(s)
	}
}

func (c *collector) finishLines() {
	for s := range c.begun {
		if len(c.begun[s]) > 0 {
			c.line(c.begun[s])
			c.begun[s] = nil
		}
	}
}

// done gives everything, when the streams have ended.
func (c *collector) done() Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finishLines()
	c.out.Stdout, c.out.Stderr = c.kept[stdout].Bytes(), c.kept[stderr].Bytes()
	return c.out
}
