package runner

import "encoding/json"

// exact is text that goes to a helper byte for byte: names and variables need not be UTF-8, which JSON would demand.
type exact string

// MarshalJSON writes the bytes in base64.
func (e exact) MarshalJSON() ([]byte, error) { return json.Marshal([]byte(e)) }

// UnmarshalJSON reads what MarshalJSON writes.
func (e *exact) UnmarshalJSON(text []byte) error {
	var raw []byte
	err := json.Unmarshal(text, &raw)
	*e = exact(raw)
	return err
}

func exactly(texts []string) []exact {
	all := make([]exact, len(texts))
	for i, t := range texts {
		all[i] = exact(t)
	}
	return all
}

func plainly(texts []exact) []string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = string(t)
	}
	return all
}
