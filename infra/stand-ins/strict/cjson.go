// Implements cjson like a Go server: escapes `<`, `>` and `&`, and damages invalid UTF-8. Does not use encoding/json,
// because parsing a small document would take 57 µs, longer than all other work of a script.
package main

import (
	"encoding/json"
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

const deepest = 1000

func newCjson(state *lua.LState) *lua.LTable {
	null := state.NewUserData()
	table := state.NewTable()
	table.RawSetString("null", null)
	table.RawSetString("encode", state.NewFunction(func(l *lua.LState) int {
		l.Push(lua.LString(encode(l, nil, l.CheckAny(1), null, 0)))
		return 1
	}))
	table.RawSetString("decode", state.NewFunction(func(l *lua.LState) int {
		reader := &reader{l: l, text: l.CheckString(1), null: null}
		value := reader.value(0)
		if reader.next() != 0 {
			reader.fail("the end of the text")
		}
		l.Push(value)
		return 1
	}))
	return table
}

// Reports whether JSON can contain the text without escapes.
func isPlain(text string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&':
			return false
		}
	}
	return true
}

func appendText(out []byte, text string) []byte {
	if isPlain(text) {
		return append(append(append(out, '"'), text...), '"')
	}
	quoted, _ := json.Marshal(text)
	return append(out, quoted...)
}

func encode(l *lua.LState, out []byte, value lua.LValue, null lua.LValue, depth int) []byte {
	if depth > deepest {
		l.RaiseError("cjson.encode: nested too deep")
	}
	switch value := value.(type) {
	case lua.LBool:
		return strconv.AppendBool(out, bool(value))
	case lua.LNumber:
		if math.IsInf(float64(value), 0) || math.IsNaN(float64(value)) {
			l.RaiseError("cjson.encode: a number must not be NaN or Inf")
		}
		return strconv.AppendFloat(out, float64(value), 'g', 14, 64)
	case lua.LString:
		return appendText(out, string(value))
	case *lua.LTable:
		return encodeTable(l, out, value, null, depth+1)
	}
	if value != lua.LNil && value != null {
		l.RaiseError("cjson.encode: cannot encode a %s", value.Type().String())
	}
	return append(out, "null"...)
}

// A table with the keys 1 to n is a list; an empty table is an object.
func encodeTable(l *lua.LState, out []byte, table *lua.LTable, null lua.LValue, depth int) []byte {
	size, fields := table.Len(), 0
	table.ForEach(func(lua.LValue, lua.LValue) { fields++ })
	if size > 0 && size == fields {
		for i := 1; i <= size; i++ {
			out = append(out, "[,"[min(i-1, 1)])
			out = encode(l, out, table.RawGetInt(i), null, depth)
		}
		return append(out, ']')
	}
	separator := byte('{')
	table.ForEach(func(key, value lua.LValue) {
		out = append(appendText(append(out, separator), key.String()), ':')
		separator = ','
		out = encode(l, out, value, null, depth)
	})
	if separator == '{' {
		out = append(out, '{')
	}
	return append(out, '}')
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

type reader struct {
	l    *lua.LState
	text string
	at   int
	null lua.LValue
}

func (r *reader) fail(expected string) {
	r.l.RaiseError("cjson.decode: expected %s at byte %d", expected, r.at+1)
}

// Returns the next byte that is not white space, or 0 at the end.
func (r *reader) next() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (r *reader) value(depth int) lua.LValue {
	if depth > deepest {
		r.l.RaiseError("cjson.decode: nested too deep")
	}
	switch c := r.next(); {
	case c == '{':
		return r.object(depth + 1)
	case c == '[':
		return r.list(depth + 1)
	case c == '"':
		return lua.LString(r.string())
	case c == 't':
		r.word("true")
		return lua.LTrue
	case c == 'f':
		r.word("false")
		return lua.LFalse
	case c == 'n':
		r.word("null")
		return r.null
	}
	return r.number()
}

func (r *reader) word(word string) {
	if len(r.text)-r.at < len(word) || r.text[r.at:r.at+len(word)] != word {
		r.fail(word)
	}
	r.at += len(word)
}

func (r *reader) number() lua.LValue {
	from := r.at
	for r.at < len(r.text) {
		c := r.text[r.at]
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			break
		}
		r.at++
	}
	if !json.Valid([]byte(r.text[from:r.at])) {
		r.at = from
		r.fail("a value")
	}
	n, _ := strconv.ParseFloat(r.text[from:r.at], 64)
	return lua.LNumber(n)
}

func (r *reader) string() string {
	from := r.at
	if r.next() != '"' {
		r.fail("a text")
	}
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case '"':
			r.at++
			if text := r.text[from+1 : r.at-1]; isPlain(text) {
				return text
			}
			var text string
			if json.Unmarshal([]byte(r.text[from:r.at]), &text) != nil {
				r.at = from
				r.fail("a text")
			}
			return text
		}
	}
	r.fail("the end of a text")
	return ""
}

func (r *reader) list(depth int) lua.LValue {
	list := r.l.NewTable()
	r.at++
	if r.next() == ']' {
		r.at++
		return list
	}
	for n := 1; ; n++ {
		list.RawSetInt(n, r.value(depth))
		if r.next() == ']' {
			r.at++
			return list
		}
		if r.next() != ',' {
			r.fail("a comma or the end of a list")
		}
		r.at++
	}
}

func (r *reader) object(depth int) lua.LValue {
	table := r.l.NewTable()
	r.at++
	if r.next() == '}' {
		r.at++
		return table
	}
	for {
		r.next()
		key := r.string()
		if r.next() != ':' {
			r.fail("a colon")
		}
		r.at++
		table.RawSetString(key, r.value(depth))
		if r.next() == '}' {
			r.at++
			return table
		}
		if r.next() != ',' {
			r.fail("a comma or the end of an object")
		}
		r.at++
	}
}
