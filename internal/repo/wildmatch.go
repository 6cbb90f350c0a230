package repo

// wildmatch reports whether text matches a pattern as git's wildmatch does it. With pathname, * and ? and brackets do
// not match a slash, and ** stands for any number of directories.
func wildmatch(pattern, text string, pathname, fold bool) bool {
	m := matcher{pathname: pathname, fold: fold, budget: 1 << 20}
	return m.match(pattern, text, true) == matched
}

type verdict int

const (
	failed1    verdict = iota // no match here
	matched                   // match
	abortAll                  // no match, however much an earlier * takes
	abortToStr                // no match until an earlier ** takes more
)

type matcher struct {
	pathname, fold bool
	budget         int // steps left; patterns with many stars cannot take for ever
}

// match matches pattern against the whole of text. start says that pattern begins a path component.
func (m *matcher) match(pattern, text string, start bool) verdict {
	for p := 0; p < len(pattern); p++ {
		if m.budget--; m.budget < 0 {
			return abortAll
		}
		c := pattern[p]
		if len(text) == 0 && c != '*' {
			return abortAll
		}
		switch c {
		case '\\':
			p++
			if p == len(pattern) {
				return failed1
			}
			if !m.equal(pattern[p], text[0]) {
				return failed1
			}
		case '?':
			if m.pathname && text[0] == '/' {
				return failed1
			}
		case '*':
			return m.star(pattern, p, text, start)
		case '[':
			n, ok := m.bracket(pattern[p:], text[0])
			if n == 0 {
				return abortAll
			}
			if !ok || (m.pathname && text[0] == '/') {
				return failed1
			}
			p += n - 1
		default:
			if !m.equal(c, text[0]) {
				return failed1
			}
		}
		start = pattern[p] == '/'
		text = text[1:]
	}
	if len(text) > 0 {
		return failed1
	}
	return matched
}

// star matches from the star at pattern[p].
func (m *matcher) star(pattern string, p int, text string, start bool) verdict {
	stars := 0
	for p+stars < len(pattern) && pattern[p+stars] == '*' {
		stars++
	}
	rest := pattern[p+stars:]
	crosses := !m.pathname
	if stars > 1 && m.pathname {
		if start && (rest == "" || rest[0] == '/' || (len(rest) > 1 && rest[0] == '\\' && rest[1] == '/')) {
			crosses = true
			if rest != "" && rest[0] == '/' && m.match(rest[1:], text, true) == matched {
				return matched // **/ matches nothing as well
			}
		}
	}
	if rest == "" {
		if !crosses {
			for i := range len(text) {
				if text[i] == '/' {
					return abortToStr
				}
			}
		}
		return matched
	}
	for i := 0; ; i++ {
		v := m.match(rest, text[i:], false)
		if v != failed1 && (!crosses || v != abortToStr) {
			return v
		}
		if i == len(text) {
			return abortAll
		}
		if !crosses && text[i] == '/' {
			return abortToStr
		}
	}
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func (m *matcher) equal(a, b byte) bool { return a == b || (m.fold && lower(a) == lower(b)) }

// bracket matches c against the bracket expression at the start of pattern and gives its length, 0 if it is not closed.
func (m *matcher) bracket(pattern string, c byte) (n int, ok bool) {
	i := 1
	negated := false
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		negated = true
		i++
	}
	if m.fold {
		c = lower(c)
	}
	found := false
	previous := byte(0)
	for first := true; ; first = false {
		if i >= len(pattern) {
			return 0, false
		}
		x := pattern[i]
		if x == ']' && !first {
			return i + 1, found != negated
		}
		switch {
		case x == '[' && i+1 < len(pattern) && pattern[i+1] == ':':
			end := indexFrom(pattern, i+2, ":]")
			if end < 0 {
				return 0, false
			}
			in, known := class1(pattern[i+2:end], c, m.fold)
			if !known {
				return 0, false
			}
			found = found || in
			i = end + 2
			previous = 0
			continue
		case x == '-' && previous != 0 && i+1 < len(pattern) && pattern[i+1] != ']':
			i++
			hi := pattern[i]
			if hi == '\\' && i+1 < len(pattern) {
				i++
				hi = pattern[i]
			}
			found = found || (previous <= c && c <= hi) || (m.fold && c >= 'a' && c <= 'z' && previous <= c-32 && c-32 <= hi)
			previous = 0
			i++
			continue
		case x == '\\' && i+1 < len(pattern):
			i++
			x = pattern[i]
		}
		found = found || m.equal(x, c)
		previous = x
		i++
	}
}

func indexFrom(s string, from int, sub string) int {
	for i := from; i+len(sub) <= len(s); i++ {
		if s[i:i+len(sub)] == sub {
			return i
		}
		if s[i] == ']' {
			return -1
		}
	}
	return -1
}

// class1 says whether c is in a POSIX character class; known is false for a class that does not exist.
func class1(name string, c byte, fold bool) (in, known bool) {
	isUpper, isLower, isDigit := c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9'
	graph := c > 0x20 && c < 0x7f
	switch name {
	case "alnum":
		return isUpper || isLower || isDigit, true
	case "alpha":
		return isUpper || isLower, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < 0x20 || c == 0x7f, true
	case "digit":
		return isDigit, true
	case "graph":
		return graph, true
	case "lower":
		return isLower, true
	case "print":
		return c >= 0x20 && c < 0x7f, true
	case "punct":
		return graph && !isUpper && !isLower && !isDigit, true
	case "space":
		return c == ' ' || (c >= '\t' && c <= '\r'), true
	case "upper":
		return isUpper || (fold && isLower), true
	case "xdigit":
		return isDigit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'), true
	}
	return false, false
}
