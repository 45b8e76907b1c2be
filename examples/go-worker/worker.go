// A pull worker that uses only Go's standard library. It serves the job class `shout` of the queue `go`.
//
// It claims jobs, renews their leases while they run, and commits all results of a run or none. See README.md.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

type run struct {
	Run struct {
		Token string `json:"token"`
	} `json:"run"`
	Job struct {
		ID   int             `json:"id"`
		Args json.RawMessage `json:"args"`
	} `json:"job"`
}

type claim struct {
	Runs   []run  `json:"runs"`
	Signal string `json:"signal"`
}

type object = map[string]any

// ask calls the API. If the response has no body, `into` is unchanged.
func ask(method, path string, body any, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, setting("SIDEJOB_URL", "http://127.0.0.1:8787")+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("authorization", "Bearer "+os.Getenv("SIDEJOB_API_KEY"))
	request.Header.Set("content-type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		return fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, answer)
	}
	if into == nil || len(answer) == 0 {
		return nil
	}
	return json.Unmarshal(answer, into)
}

func setting(name, usual string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return usual
}

// shout performs a run of the class: it takes args and returns a result.
func shout(args json.RawMessage) (any, error) {
	var given struct {
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(args, &given); err != nil {
		return nil, err
	}
	if given.Text == nil {
		return nil, errors.New("args.text: expected a string, got nothing")
	}
	return strings.ToUpper(*given.Text), nil
}

// perform executes one run. The lease lasts a minute; a heartbeat every twenty seconds extends it until the run ends.
func perform(one run) {
	path := "/v1/runs/" + one.Run.Token
	beat := time.NewTicker(20 * time.Second)
	done := make(chan object, 1)
	go func() {
		result, err := shout(one.Job.Args)
		if err != nil {
			done <- object{"end": "failed", "error": object{"message": err.Error()}}
			return
		}
		done <- object{"end": "completed", "result": result}
	}()
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			if err := ask("POST", path+"/heartbeat", object{}, nil); err != nil {
				// After 410 LOST, sidejob refuses the commit.
				log.Printf("job %d: no heartbeat: %v", one.Job.ID, err)
			}
		case changes := <-done:
			if err := ask("POST", path+"/commit", changes, nil); err != nil {
				log.Printf("job %d: %v", one.Job.ID, err)
			}
			return
		}
	}
}

func main() {
	host, _ := os.Hostname()
	// Name of this process in `sidejob processes` and `sidejob processes stop`.
	name := fmt.Sprintf("%s:%d:%x", host, os.Getpid(), time.Now().UnixNano()&0xffff)
	if err := ask("PUT", "/v1/workers/go/shout", object{"pull": true, "retry": object{"max": 3}}, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println("waiting for work")
	for {
		var claimed claim
		wanted := object{"wait": "20s", "max": 10, "process": name}
		if err := ask("POST", "/v1/queues/go/claim", wanted, &claimed); err != nil {
			log.Print(err)
			time.Sleep(time.Second)
			continue
		}
		// A run that waits for another run would lose its lease.
		var all sync.WaitGroup
		for _, one := range claimed.Runs {
			all.Add(1)
			go func(one run) {
				defer all.Done()
				perform(one)
			}(one)
		}
		all.Wait()
		if claimed.Signal == "stop" {
			fmt.Println("stopped")
			return
		}
	}
}
