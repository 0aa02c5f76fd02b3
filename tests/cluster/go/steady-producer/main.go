// franz-go as an idempotent producer that goes on until its standard input ends, and says what was acknowledged.
//
//	steady-producer BOOTSTRAP TOPIC PARTITIONS NAME RECORDS_PER_SECOND
//
// Arguments and lines are those of python/steady_producer.py.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	bootstrap, topic, name := os.Args[1], os.Args[2], os.Args[4]
	partitions, _ := strconv.Atoi(os.Args[3])
	rate, _ := strconv.ParseFloat(os.Args[5], 64)
	// Idempotent, with acks of all replicas in sync and without an end of trying, as the client is when left alone.
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(bootstrap, ",")...), kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(2*time.Millisecond),
		kgo.MetadataMinAge(100*time.Millisecond), kgo.MetadataMaxAge(time.Second), kgo.RequestTimeoutOverhead(6*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stopped)
	}()
	for number := 0; ; number++ {
		select {
		case <-stopped:
			if err := client.Flush(context.Background()); err != nil {
				fmt.Println("failed", number, err)
			}
			client.Close()
			return
		case <-time.After(time.Duration(float64(time.Second) / rate)):
		}
		record := &kgo.Record{Partition: int32(number % partitions), Value: fmt.Appendf(nil, "%s:%d", name, number)}
		client.Produce(context.Background(), record, func(done *kgo.Record, err error) {
			if err != nil {
				fmt.Println("failed", number, err)
			} else {
				fmt.Println(done.Partition, done.Offset, number)
			}
		})
	}
}
