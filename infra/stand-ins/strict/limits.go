// Applies the limits of a plan, with Upstash's error messages. Asks Redis for the size of a record only if the
// additions since the last answer may have filled it.
package main

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

const maxKey = 32 * 1024

type limits struct {
	record, monthly, perSecond int64
	mutex                      sync.Mutex
	// Numbers of billed commands: from clients, from scripts, and in the current second, which began at `since`.
	outside, inside, inSecond int64
	since                     time.Time
	// Time of scripts, without the time of their commands.
	lua time.Duration
	// Upper bound of the size of each record: its measured size plus all later additions.
	sizes map[string]int64
}

func newLimits() *limits { return &limits{sizes: map[string]int64{}, since: time.Now()} }

func more(what string, page string) string {
	return what + ". See https://upstash.com/docs/redis/troubleshooting/" + page + " for details"
}

// Counts a client's command, and returns the reason if the command is refused.
func (l *limits) outer() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if used := l.outside + l.inside; l.monthly > 0 && used >= l.monthly {
		return more(fmt.Sprintf("ERR max requests limit exceeded. Limit: %d, Usage: %d", l.monthly, used), "max_requests_limit")
	}
	l.outside++
	l.inSecond++
	return ""
}

func (l *limits) inner() {
	l.mutex.Lock()
	l.inside++
	l.inSecond++
	l.mutex.Unlock()
}

func (l *limits) took(lua time.Duration) {
	l.mutex.Lock()
	l.lua += lua
	l.mutex.Unlock()
}

// Commands beyond the plan's rate wait for the next second.
func (l *limits) slowDown() {
	l.mutex.Lock()
	now := time.Now()
	if passed := now.Sub(l.since); passed >= time.Second {
		l.since, l.inSecond = now, 0
	}
	wait := time.Duration(0)
	if l.perSecond > 0 && l.inSecond > l.perSecond {
		wait = l.since.Add(time.Second).Sub(now)
	}
	l.mutex.Unlock()
	time.Sleep(wait)
}

// Returns the reason if a command is refused because its key or its record is too large.
func (l *limits) refusal(behind *link, verb string, words [][]byte) string {
	for _, key := range keysOf(verb, words) {
		if len(key) > maxKey {
			return more(fmt.Sprintf("ERR max key size exceeded. Limit: %d bytes, Actual: %d bytes", maxKey, len(key)), "max_key_size_exceeded")
		}
	}
	if l.record == 0 {
		return ""
	}
	for key, added := range growth(verb, words) {
		if size := l.sizeWith(behind, key, added, replaces[verb]); size > l.record {
			return more(fmt.Sprintf("ERR max single record size exceeded. Limit: %d bytes, Actual: %d bytes", l.record, size), "max_record_size_exceeded")
		}
	}
	return ""
}

// Returns the size of a record after an addition. Measures a record that seems too large, because it may have shrunk.
func (l *limits) sizeWith(behind *link, key string, added int64, anew bool) int64 {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if anew {
		delete(l.sizes, key)
		return added
	}
	size, known := l.sizes[key]
	if !known || size+added > l.record {
		size = measured(behind, key)
	}
	if size+added <= l.record {
		l.sizes[key] = size + added
	}
	return size + added
}

func measured(behind *link, key string) int64 {
	reply, err := behind.ask([][]byte{[]byte("MEMORY"), []byte("USAGE"), []byte(key), []byte("SAMPLES"), []byte("20")})
	if err != nil || reply[0] != ':' {
		return 0
	}
	return number(reply[1 : len(reply)-2])
}

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(words) {
		all[word] = true
	}
	return all
}

var (
	keyless  = set("PING ECHO TIME PUBLISH INFO COMMAND CONFIG DBSIZE RANDOMKEY SCAN KEYS FLUSHALL FLUSHDB MULTI EXEC DISCARD CLIENT SELECT AUTH HELLO SHUTDOWN MEMORY OBJECT LATENCY")
	manyKeys = set("DEL UNLINK EXISTS TOUCH MGET SINTER SUNION SDIFF")
	replaces = set("SET SETEX PSETEX GETSET SETNX MSET MSETNX")
	grows    = set("APPEND SETRANGE LPUSH RPUSH LPUSHX RPUSHX SADD HSET HMSET HSETNX ZADD XADD")
)

func keysOf(verb string, words [][]byte) [][]byte {
	switch {
	case len(words) < 2 || keyless[verb]:
		return nil
	case manyKeys[verb]:
		return words[1:]
	case verb == "MSET" || verb == "MSETNX":
		keys := [][]byte{}
		for i := 1; i < len(words); i += 2 {
			keys = append(keys, words[i])
		}
		return keys
	}
	return words[1:2]
}

// Returns the bytes that a command adds to each record: its arguments, and the server's overhead per element.
func growth(verb string, words [][]byte) map[string]int64 {
	added := map[string]int64{}
	switch {
	case verb == "MSET" || verb == "MSETNX":
		for i := 2; i < len(words); i += 2 {
			added[string(words[i-1])] = int64(len(words[i]))
		}
	case (replaces[verb] || grows[verb]) && len(words) > 2:
		for _, word := range words[2:] {
			added[string(words[1])] += int64(len(word))
		}
	}
	return added
}

// Tests send STRICT COUNTS, or STRICT LIMIT record|monthly|per-second n.
func (l *limits) command(words [][]byte) []byte {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(words) == 1 && strings.EqualFold(string(words[0]), "COUNTS") {
		return bulkReply(fmt.Sprintf(`{"commands":%d,"outside":%d,"inside":%d,"luaMs":%.3f}`, l.outside+l.inside, l.outside, l.inside, float64(l.lua)/1e6))
	}
	if len(words) == 3 {
		limit := map[string]*int64{"record": &l.record, "monthly": &l.monthly, "per-second": &l.perSecond}[string(words[1])]
		if limit != nil {
			*limit = number(words[2])
			l.sizes = map[string]int64{}
			return []byte("+OK\r\n")
		}
	}
	return errorReply("ERR expected STRICT COUNTS, or STRICT LIMIT record|monthly|per-second and a number")
}
