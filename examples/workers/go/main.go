// A pull worker in Go, with nothing but the standard library. The protocol: docs/api/pull-protocol.md.
//
//	HORAE_URL=http://localhost:8700 HORAE_KEY=horae_… HORAE_QUEUE=mail go run .
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Work is one attempt in our hands.
type Work struct {
	Instance string          `json:"instance_id"`
	Attempt  int             `json:"attempt"`
	Token    string          `json:"token"`
	Job      string          `json:"job"`
	Key      *string         `json:"key"`
	Payload  json.RawMessage `json:"payload"`
	IdemKey  string          `json:"idempotency_key"`
	Deadline time.Time       `json:"deadline"`
}

type object = map[string]any

func (w Work) report(more object) object {
	item := object{"instance_id": w.Instance, "attempt": w.Attempt, "token": w.Token}
	for name, value := range more {
		item[name] = value
	}
	return object{"items": []object{item}}
}

// handle is your business. Record the idempotency key with the effect, in one transaction: a task may come twice.
func handle(ctx context.Context, w Work) error {
	if string(w.Payload) == `{"fail":true}` {
		return fmt.Errorf("the payload says so")
	}
	fmt.Printf("handled %s %s\n", w.IdemKey, w.Payload)
	return nil
}

var client = &http.Client{Timeout: 90 * time.Second} // longer than the longest poll

// post sends a message and reads its answer; what failed for a moment is said again.
func post(ctx context.Context, verb string, message, answer any) error {
	body, _ := json.Marshal(message)
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		request, _ := http.NewRequestWithContext(
			ctx, "POST", os.Getenv("HORAE_URL")+"/api/v1/workers/"+verb, bytes.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+os.Getenv("HORAE_KEY"))
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err == nil {
			defer response.Body.Close()
			if response.StatusCode == 200 {
				return json.NewDecoder(response.Body).Decode(answer)
			}
			err = fmt.Errorf("%s: %s", verb, response.Status)
			if response.StatusCode < 500 && response.StatusCode != 429 {
				return err // asking again would not help
			}
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

func min(a, b time.Duration) time.Duration {
	if a < b {
		return a
	}
	return b
}

// beat moves the deadline away while the work lasts, and stops the work once it is no longer ours.
func beat(ctx context.Context, w Work, stop context.CancelFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(w.Deadline) / 3):
		}
		var heard struct {
			Items []struct {
				Yours    bool       `json:"yours"`
				Deadline *time.Time `json:"deadline"`
			} `json:"items"`
		}
		if post(ctx, "heartbeat", w.report(nil), &heard) != nil || len(heard.Items) == 0 {
			continue
		}
		if !heard.Items[0].Yours {
			stop()
			return
		}
		if heard.Items[0].Deadline != nil {
			w.Deadline = *heard.Items[0].Deadline
		}
	}
}

func work(w Work) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go beat(ctx, w, stop)
	err := handle(ctx, w)
	if ctx.Err() != nil {
		return // no longer ours: say nothing
	}
	verb, said := "finish", w.report(nil)
	if err != nil {
		verb, said = "fail", w.report(object{"message": err.Error()})
	}
	var reported json.RawMessage
	if err := post(context.Background(), verb, said, &reported); err != nil {
		log.Println(err)
	}
}

func main() {
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	name, _ := os.Hostname()
	var running sync.WaitGroup
	for ctx.Err() == nil {
		asked := object{"queue": os.Getenv("HORAE_QUEUE"), "worker_id": fmt.Sprint(name, "-", os.Getpid()), "limit": 10, "wait": 20}
		var works struct {
			Items []Work `json:"items"`
		}
		if err := post(ctx, "poll", asked, &works); err != nil && ctx.Err() == nil {
			log.Fatal(err)
		}
		for _, one := range works.Items {
			running.Add(1)
			go func(w Work) { defer running.Done(); work(w) }(one)
		}
		running.Wait()
	}
}
