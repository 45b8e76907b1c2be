// Runs scripts in gopher-lua with its default of 5,120 registers, and 200 per function. Allows only 128 of
// gopher-lua's 256 nested calls, so a test fails before Upstash would refuse the script.
package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

const chunk = "@user_script"

type script struct {
	text  string
	proto *lua.FunctionProto
}

type scripts struct {
	server *server
	behind *link
	state  *lua.LState
	mutex  sync.Mutex
	known  map[string]*script
	// Time that the current script has waited for the server. Upstash's scripts do not wait, because they run inside
	// the server.
	waited time.Duration
}

func newScripts(s *server) (*scripts, error) {
	behind, err := s.dial()
	return &scripts{server: s, behind: behind, known: map[string]*script{}}, err
}

func compile(text string) (*lua.FunctionProto, error) {
	tree, err := parse.Parse(strings.NewReader(text), chunk)
	if err != nil {
		return nil, err
	}
	return lua.Compile(tree, chunk)
}

func (s *scripts) load(text string) (string, error) {
	sha := fmt.Sprintf("%x", sha1.Sum([]byte(text)))
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.known[sha] != nil {
		return sha, nil
	}
	proto, err := compile(text)
	if err == nil {
		s.known[sha] = &script{text: text, proto: proto}
	}
	return sha, err
}

// Returns the function of a script. With `compileEach`, compiles the script again for each call.
func (s *scripts) function(sha string) (*lua.LFunction, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found := s.known[sha]
	if found == nil {
		return nil, nil
	}
	proto := found.proto
	if s.server.compileEach {
		var err error
		if proto, err = compile(found.text); err != nil {
			return nil, err
		}
	}
	return &lua.LFunction{Env: s.state.G.Global, Proto: proto, Upvalues: make([]*lua.Upvalue, proto.NumUpvalues)}, nil
}

func (s *scripts) command(words [][]byte) []byte {
	if len(words) < 2 {
		return errorReply("ERR wrong number of arguments for 'script' command")
	}
	switch strings.ToUpper(string(words[1])) {
	case "LOAD":
		sha, err := s.load(string(words[2]))
		if err != nil {
			return errorReply("ERR Error compiling script: " + err.Error())
		}
		return bulkReply(sha)
	case "EXISTS":
		s.mutex.Lock()
		defer s.mutex.Unlock()
		reply := fmt.Sprintf("*%d\r\n", len(words)-2)
		for _, sha := range words[2:] {
			there := 0
			if s.known[strings.ToLower(string(sha))] != nil {
				there = 1
			}
			reply += fmt.Sprintf(":%d\r\n", there)
		}
		return []byte(reply)
	case "FLUSH":
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.known = map[string]*script{}
		return []byte("+OK\r\n")
	}
	return errorReply("ERR unknown subcommand for 'script' command")
}

func (s *scripts) run(verb string, words [][]byte) []byte {
	if len(words) < 3 {
		return errorReply("ERR wrong number of arguments for '" + strings.ToLower(verb) + "' command")
	}
	sha := strings.ToLower(string(words[1]))
	if verb == "EVAL" || verb == "EVAL_RO" {
		var err error
		if sha, err = s.load(string(words[1])); err != nil {
			return errorReply("ERR Error compiling script: " + err.Error())
		}
	}
	count, err := strconv.Atoi(string(words[2]))
	if err != nil || count < 0 || count > len(words)-3 {
		return errorReply("ERR Number of keys can't be greater than number of args")
	}
	began := time.Now()
	s.waited = 0
	defer func() { s.server.limits.took(time.Since(began) - s.waited) }()
	s.prepare(words[3:3+count], words[3+count:])
	function, err := s.function(sha)
	if err != nil {
		return errorReply("ERR Error compiling script: " + err.Error())
	}
	if function == nil {
		return errorReply("NOSCRIPT No matching script. Please use EVAL.")
	}
	s.state.Push(function)
	if err := s.state.PCall(0, 1, nil); err != nil {
		s.state.Close()
		s.state = nil
		return errorReply(faultOf(err))
	}
	reply := toReply(s.state, s.state.Get(-1), nil)
	s.state.SetTop(0)
	return reply
}

// If a script raises a table, its field `err` is the message. Other errors are reported with their line.
func faultOf(err error) string {
	if fault, ok := err.(*lua.ApiError); ok {
		if table, ok := fault.Object.(*lua.LTable); ok {
			return lua.LVAsString(table.RawGetString("err"))
		}
	}
	return "ERR Error running script: " + err.Error()
}

func (s *scripts) prepare(keys, args [][]byte) {
	if s.state == nil {
		s.state = s.newState()
	}
	s.state.SetGlobal("KEYS", listOf(s.state, keys))
	s.state.SetGlobal("ARGV", listOf(s.state, args))
}

func listOf(state *lua.LState, words [][]byte) *lua.LTable {
	list := state.CreateTable(len(words), 0)
	for _, word := range words {
		list.Append(lua.LString(word))
	}
	return list
}

func (s *scripts) newState() *lua.LState {
	state := lua.NewState(lua.Options{SkipOpenLibs: true, CallStackSize: 128})
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
	} {
		state.Push(state.NewFunction(open))
		state.Push(lua.LString(name))
		state.Call(1, 0)
	}
	for _, name := range []string{"dofile", "loadfile", "print", "module", "require"} {
		state.SetGlobal(name, lua.LNil)
	}
	redis := state.NewTable()
	for name, function := range map[string]lua.LGFunction{
		"call": func(l *lua.LState) int { return s.call(l, true) }, "pcall": func(l *lua.LState) int { return s.call(l, false) },
		"error_reply": tagged("err"), "status_reply": tagged("ok"), "sha1hex": sha1hex,
	} {
		redis.RawSetString(name, state.NewFunction(function))
	}
	state.SetGlobal("redis", redis)
	state.SetGlobal("cjson", newCjson(state))
	state.SetGlobal("KEYS", state.NewTable())
	state.SetGlobal("ARGV", state.NewTable())
	protect(state)
	return state
}

// Raises an error if a script creates a global or reads a missing global.
func protect(state *lua.LState) {
	guard := state.NewTable()
	guard.RawSetString("__index", state.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.CheckAny(2).String())
		return 0
	}))
	guard.RawSetString("__newindex", state.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to create global variable '%s'", l.CheckAny(2).String())
		return 0
	}))
	state.SetMetatable(state.G.Global, guard)
}

func tagged(field string) lua.LGFunction {
	return func(l *lua.LState) int {
		table := l.NewTable()
		table.RawSetString(field, lua.LString(l.CheckString(1)))
		l.Push(table)
		return 1
	}
}

func sha1hex(l *lua.LState) int {
	l.Push(lua.LString(fmt.Sprintf("%x", sha1.Sum([]byte(l.CheckString(1))))))
	return 1
}

func (s *scripts) call(l *lua.LState, raises bool) int {
	words := make([][]byte, l.GetTop())
	for i := range words {
		switch value := l.Get(i + 1).(type) {
		case lua.LString:
			words[i] = []byte(value)
		case lua.LNumber:
			words[i] = []byte(textOf(value))
		default:
			l.RaiseError("ERR Lua redis lib command arguments must be strings or integers")
		}
	}
	s.server.limits.inner()
	refusal := s.server.limits.refusal(s.behind, verbOf(words), words)
	reply := errorReply(refusal)
	if refusal == "" {
		var err error
		asked := time.Now()
		reply, err = s.behind.ask(words)
		s.waited += time.Since(asked)
		if err != nil {
			l.RaiseError("ERR the connection to redis-server is lost: %s", err.Error())
		}
	}
	if reply[0] == '-' && raises {
		l.RaiseError("%s", string(bytes.TrimSpace(reply[1:])))
	}
	value, _ := toLua(l, reply)
	l.Push(value)
	return 1
}

func textOf(n lua.LNumber) string {
	if n == lua.LNumber(int64(n)) {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatFloat(float64(n), 'g', 17, 64)
}

// Returns the reply as a Lua value, and the remaining bytes.
func toLua(l *lua.LState, reply []byte) (lua.LValue, []byte) {
	end := bytes.IndexByte(reply, '\r')
	line, rest := reply[1:end], reply[end+2:]
	switch reply[0] {
	case ':':
		return lua.LNumber(number(line)), rest
	case '+', '-':
		table := l.NewTable()
		table.RawSetString(map[byte]string{'+': "ok", '-': "err"}[reply[0]], lua.LString(line))
		return table, rest
	case '$':
		size := number(line)
		if size < 0 {
			return lua.LFalse, rest
		}
		return lua.LString(rest[:size]), rest[size+2:]
	}
	count := number(line)
	if count < 0 {
		return lua.LFalse, rest
	}
	list := l.CreateTable(int(count), 0)
	for i := int64(0); i < count; i++ {
		var value lua.LValue
		value, rest = toLua(l, rest)
		list.RawSetInt(int(i+1), value)
	}
	return list, rest
}

// Converts the result of a script to a reply: numbers lose their fractions, and a list ends at its first nil.
func toReply(l *lua.LState, value lua.LValue, reply []byte) []byte {
	switch value := value.(type) {
	case lua.LNumber:
		return append(reply, ":"+strconv.FormatInt(int64(value), 10)+"\r\n"...)
	case lua.LString:
		return append(reply, bulkReply(string(value))...)
	case lua.LBool:
		if value {
			return append(reply, ":1\r\n"...)
		}
	case *lua.LTable:
		if err, ok := value.RawGetString("err").(lua.LString); ok {
			return append(reply, errorReply(string(err))...)
		}
		if status, ok := value.RawGetString("ok").(lua.LString); ok {
			return append(reply, "+"+string(status)+"\r\n"...)
		}
		size := 0
		for value.RawGetInt(size+1) != lua.LNil {
			size++
		}
		reply = append(reply, fmt.Sprintf("*%d\r\n", size)...)
		for i := 1; i <= size; i++ {
			reply = toReply(l, value.RawGetInt(i), reply)
		}
		return reply
	}
	return append(reply, "$-1\r\n"...)
}

type use struct {
	Line      int `json:"line"`
	Registers int `json:"registers"`
	Upvalues  int `json:"upvalues"`
}

// Reads a script from standard input and prints the registers of each function as JSON, beginning with the script
// itself.
func printRegisters() {
	text, _ := io.ReadAll(os.Stdin)
	proto, err := compile(string(text))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	uses := []use{}
	var walk func(*lua.FunctionProto)
	walk = func(p *lua.FunctionProto) {
		uses = append(uses, use{p.LineDefined, int(p.NumUsedRegisters), int(p.NumUpvalues)})
		for _, inner := range p.FunctionPrototypes {
			walk(inner)
		}
	}
	walk(proto)
	json.NewEncoder(os.Stdout).Encode(uses)
}
