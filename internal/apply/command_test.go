package apply

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/git-clada/git-clada/internal/testkit"
)

// fragments are what random command lines are made of.
var fragments = []string{
	"a", "b c", " ", "  ", "\t", "'", "'", `"`, `"`, `\`, `\\`, `\"`, `\'`, "$", "`", "*", "?", "[", "]", "{", "}", ",", "..", "~", "#", "!", "=", "%", "^",
	"&", "|", ";", "<", ">", "(", ")", "\n", "\\\n", "-x", "--long=v", "ü", "$x", "$(", "'a b'", `"a b"`, `'"'`, `"'"`, "stash@{0}", "a{b,c}", "A=1", "HEAD~1", "\r", "@", ":",
}

// TestWordsLikeShell: a command line that is taken for plain words is the same words to a shell; nothing in it would have
// been expanded or acted on.
func TestWordsLikeShell(t *testing.T) {
	rng := rand.New(rand.NewPCG(uint64(testkit.Seed(t)), 0))
	var texts []string
	var words [][]string
	for range testkit.Rounds(t, 20_000) {
		var b strings.Builder
		for range 1 + rng.IntN(8) {
			b.WriteString(fragments[rng.IntN(len(fragments))])
		}
		text := strings.TrimSpace(b.String())
		if strings.HasPrefix(text, "\\\n") {
			continue // here it would join the command with the one that the test puts before it
		}
		if got, refusal := commandWords(text); refusal == nil {
			texts, words = append(texts, text), append(words, got)
		}
	}
	for _, shell := range []string{"sh", "bash"} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("there is no %s to compare with", shell)
			continue
		}
		for at := 0; at < len(texts); at += 500 { // so many fit into the arguments of a process
			batch := texts[at:min(at+500, len(texts))]
			cmd := exec.Command(shell, append([]string{"-c", `for t; do eval "printf '%s\0' x $t"; printf '\1'; done`, shell}, batch...)...)
			cmd.Dir = t.TempDir()
			out, err := cmd.Output()
			answers := strings.Split(string(out), "\x01")
			for i, text := range batch {
				if i == len(answers)-1 {
					t.Fatalf("%q: words %q, but %s stops: %v", text, words[at+i], shell, err)
				}
				got := strings.Split(strings.TrimSuffix(answers[i], "\x00"), "\x00")[1:]
				if !slices.Equal(got, words[at+i]) {
					t.Fatalf("%q: words %q, for %s they are %q", text, words[at+i], shell, got)
				}
			}
		}
	}
	t.Logf("%d command lines read as the shells do", len(texts))
}
