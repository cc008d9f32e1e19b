package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"pawl.dev/sdk/go/pawl"
)

type Person struct {
	Name string `json:"name"`
}

type Greeting struct {
	Text string `json:"text"`
}

func greet(ctx context.Context, in Person) (Greeting, error) {
	text := "Hello, " + in.Name + "!"
	return Greeting{text}, pawl.From(ctx).Emit(ctx, text+"\n") // watchers see it at once
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := pawl.Serve(ctx, pawl.Handle("hello.greet@1", greet)); err != nil {
		log.Fatal(err)
	}
}
