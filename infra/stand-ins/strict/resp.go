// RESP2 in both directions: parses commands into words, and passes replies on as bytes.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
)

type link struct {
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
}

func newLink(conn net.Conn) *link {
	return &link{conn: conn, in: bufio.NewReaderSize(conn, 1<<16), out: bufio.NewWriterSize(conn, 1<<16)}
}

var errProtocol = errors.New("expected RESP")

func (l *link) readCommand() ([][]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	if line[0] != '*' {
		return bytes.Fields(append([]byte(nil), line...)), nil
	}
	count := number(bytes.TrimSpace(line[1:]))
	words := make([][]byte, count)
	for i := range words {
		if words[i], err = l.readBulk(); err != nil {
			return nil, err
		}
	}
	return words, nil
}

func (l *link) readBulk() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	if line[0] != '$' {
		return nil, errProtocol
	}
	word := make([]byte, number(bytes.TrimSpace(line[1:]))+2)
	_, err = io.ReadFull(l.in, word)
	return word[:len(word)-2], err
}

func (l *link) writeCommand(words [][]byte) {
	l.header('*', len(words))
	for _, word := range words {
		l.header('$', len(word))
		l.out.Write(word)
		l.out.WriteString("\r\n")
	}
}

func (l *link) header(kind byte, n int) {
	l.out.WriteByte(kind)
	l.out.WriteString(strconv.Itoa(n))
	l.out.WriteString("\r\n")
}

func (l *link) ask(words [][]byte) ([]byte, error) {
	l.writeCommand(words)
	if err := l.out.Flush(); err != nil {
		return nil, err
	}
	return l.readReply(nil)
}

func (l *link) readReply(reply []byte) ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	kind, size := line[0], number(bytes.TrimSpace(line[1:]))
	reply = append(reply, line...)
	switch {
	case kind == '$' && size >= 0:
		from := len(reply)
		reply = append(reply, make([]byte, size+2)...)
		_, err = io.ReadFull(l.in, reply[from:])
	case kind == '*':
		for i := int64(0); i < size && err == nil; i++ {
			reply, err = l.readReply(reply)
		}
	}
	return reply, err
}

func errorReply(text string) []byte {
	return []byte("-" + strings.NewReplacer("\r", " ", "\n", " ").Replace(text) + "\r\n")
}

func bulkReply(text string) []byte {
	return []byte("$" + strconv.Itoa(len(text)) + "\r\n" + text + "\r\n")
}
