package runner

import (
	"slices"
	"strings"

	"github.com/git-clada/git-clada/internal/diag"
)

// readFind reads the command line of find: starting points, then an expression.
func readFind(args []string) (*line, *diag.Error) {
	r := &optionReader{program: "find", set: readOptions(findPrimaries, words), style: words}
	l := &line{dashes: -1}
	operators := strings.Fields(findOperators)
	for i := 0; i < len(args); {
		w, begun := args[i], len(l.options) > 0
		switch {
		case w == "-P" && !begun && len(l.operands) == 0:
			i++
		case slices.Contains(operators, w):
			l.options = append(l.options, w)
			i++
		case len(w) > 1 && w[0] == '-':
			n, err := r.word(w, args[i+1:])
			if err != nil {
				return nil, err
			}
			if r.set[w] == "p" {
				l.paths = append(l.paths, pathValue{at: len(l.options) + 1})
			}
			l.options = append(l.options, args[i:i+n]...)
			i += n
		case begun:
			return nil, diag.New(diag.CommandNotAllowed, "find: %s stands behind the expression", w).
				WithHint("name the directories first, and put patterns into quotes")
		default:
			l.operands = append(l.operands, w)
			i++
		}
	}
	return l, nil
}
