// cjson as a Go server would have it: `<`, `>` and `&` are written as escapes, what is not UTF-8 is damaged.
package main

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

func newCjson(state *lua.LState) *lua.LTable {
	null := state.NewUserData()
	table := state.NewTable()
	table.RawSetString("null", null)
	table.RawSetString("encode", state.NewFunction(func(l *lua.LState) int {
		out := &bytes.Buffer{}
		encode(l, out, l.CheckAny(1), null, 0)
		l.Push(lua.LString(out.String()))
		return 1
	}))
	table.RawSetString("decode", state.NewFunction(func(l *lua.LState) int {
		decoder := json.NewDecoder(bytes.NewReader([]byte(l.CheckString(1))))
		value, err := decode(l, decoder, null)
		if err != nil {
			l.RaiseError("cjson.decode: %s", err.Error())
		}
		if decoder.More() {
			l.RaiseError("cjson.decode: expected the end of the text")
		}
		l.Push(value)
		return 1
	}))
	return table
}

func encode(l *lua.LState, out *bytes.Buffer, value lua.LValue, null lua.LValue, depth int) {
	if depth > 1000 {
		l.RaiseError("cjson.encode: nested too deep")
	}
	switch value := value.(type) {
	case lua.LBool:
		out.WriteString(strconv.FormatBool(bool(value)))
	case lua.LNumber:
		if math.IsInf(float64(value), 0) || math.IsNaN(float64(value)) {
			l.RaiseError("cjson.encode: a number must not be NaN or Inf")
		}
		out.WriteString(strconv.FormatFloat(float64(value), 'g', 14, 64))
	case lua.LString:
		text, _ := json.Marshal(string(value))
		out.Write(text)
	case *lua.LTable:
		encodeTable(l, out, value, null, depth+1)
	default:
		if value != lua.LNil && value != null {
			l.RaiseError("cjson.encode: cannot encode a %s", value.Type().String())
		}
		out.WriteString("null")
	}
}

// A table whose keys are 1 to n is a list; an empty one is an object.
func encodeTable(l *lua.LState, out *bytes.Buffer, table *lua.LTable, null lua.LValue, depth int) {
	size, fields := table.Len(), 0
	table.ForEach(func(lua.LValue, lua.LValue) { fields++ })
	if size > 0 && size == fields {
		for i := 1; i <= size; i++ {
			out.WriteByte("[,"[min(i-1, 1)])
			encode(l, out, table.RawGetInt(i), null, depth)
		}
		out.WriteByte(']')
		return
	}
	separator := byte('{')
	table.ForEach(func(key, value lua.LValue) {
		out.WriteByte(separator)
		separator = ','
		text, _ := json.Marshal(key.String())
		out.Write(text)
		out.WriteByte(':')
		encode(l, out, value, null, depth)
	})
	if separator == '{' {
		out.WriteByte('{')
	}
	out.WriteByte('}')
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func decode(l *lua.LState, decoder *json.Decoder, null lua.LValue) (lua.LValue, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		return decodeTable(l, decoder, token, null)
	case string:
		return lua.LString(token), nil
	case float64:
		return lua.LNumber(token), nil
	case bool:
		return lua.LBool(token), nil
	}
	return null, nil
}

func decodeTable(l *lua.LState, decoder *json.Decoder, open json.Delim, null lua.LValue) (lua.LValue, error) {
	table := l.NewTable()
	for decoder.More() {
		var key lua.LValue
		if open == '{' {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			key = lua.LString(name.(string))
		}
		value, err := decode(l, decoder, null)
		if err != nil {
			return nil, err
		}
		if open == '{' {
			l.RawSet(table, key, value)
		} else {
			table.Append(value)
		}
	}
	_, err := decoder.Token()
	return table, err
}
