// A strict Redis for tests, in front of a redis-server. It runs scripts in gopher-lua, one at a time like Upstash, and
// refuses commands beyond the limits of a plan. It passes other commands through unchanged.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
)

func main() {
	registers := flag.Bool("registers", false, "print the registers of each function of the script on standard input")
	backend := flag.String("redis", "127.0.0.1:6379", "address of the redis-server")
	port := flag.Int("port", 0, "port to listen on; 0 selects a free port")
	each := flag.Bool("compile-each", false, "compile a script at each call instead of once")
	limits := newLimits()
	flag.Int64Var(&limits.record, "record", 0, "maximum bytes of a record; 0 means no limit")
	flag.Int64Var(&limits.monthly, "monthly", 0, "maximum commands; 0 means no limit")
	flag.Int64Var(&limits.perSecond, "per-second", 0, "maximum commands per second; 0 means no limit")
	flag.Parse()
	if *registers {
		printRegisters()
		return
	}
	serve(&server{address: *backend, limits: limits, compileEach: *each}, *port)
}

// Serves until the input ends, which means that the parent process has ended.
func serve(s *server, port int) {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		log.Fatal(err)
	}
	if s.scripts, err = newScripts(s); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("port %d\n", listener.Addr().(*net.TCPAddr).Port)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go s.converse(client)
	}
}

type server struct {
	address     string
	limits      *limits
	scripts     *scripts
	compileEach bool
	// Scripts take the write lock, other commands the read lock.
	lock sync.RWMutex
}

func (s *server) dial() (*link, error) {
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return nil, err
	}
	return newLink(conn), nil
}

// Serves one client through its own connection, because transactions, names and databases belong to a connection.
func (s *server) converse(conn net.Conn) {
	defer conn.Close()
	behind, err := s.dial()
	if err != nil {
		return
	}
	defer behind.conn.Close()
	client := newLink(conn)
	for {
		words, err := client.readCommand()
		if err != nil {
			return
		}
		if verb := verbOf(words); verb == "SUBSCRIBE" || verb == "PSUBSCRIBE" || verb == "MONITOR" {
			streamTo(client, behind, words)
			return
		}
		reply, err := s.answer(behind, words)
		if err != nil {
			return
		}
		client.out.Write(reply)
		if client.in.Buffered() == 0 && client.out.Flush() != nil {
			return
		}
	}
}

// Passes bytes in both directions, because after a subscription, the server may send at any time.
func streamTo(client, behind *link, words [][]byte) {
	client.out.Flush()
	behind.writeCommand(words)
	behind.out.Flush()
	go func() {
		io.Copy(client.conn, behind.in)
		client.conn.Close()
	}()
	io.Copy(behind.conn, client.in)
}

func (s *server) answer(behind *link, words [][]byte) ([]byte, error) {
	verb := verbOf(words)
	if verb == "STRICT" {
		return s.limits.command(words[1:]), nil
	}
	if refusal := s.limits.outer(); refusal != "" {
		return errorReply(refusal), nil
	}
	defer s.limits.slowDown()
	switch verb {
	case "EVAL", "EVAL_RO", "EVALSHA", "EVALSHA_RO":
		s.lock.Lock()
		defer s.lock.Unlock()
		return s.scripts.run(verb, words), nil
	case "SCRIPT":
		return s.scripts.command(words), nil
	}
	s.lock.RLock()
	defer s.lock.RUnlock()
	if refusal := s.limits.refusal(behind, verb, words); refusal != "" {
		return errorReply(refusal), nil
	}
	return behind.ask(words)
}

func verbOf(words [][]byte) string {
	if len(words) == 0 {
		return ""
	}
	return strings.ToUpper(string(words[0]))
}

func number(text []byte) int64 {
	n, _ := strconv.ParseInt(string(text), 10, 64)
	return n
}
