// franz-go as a program that writes or reads records as lines (see record-lines.ts).
//
//	franz-client produce BOOTSTRAP TOPIC CODEC < LINES
//	franz-client consume BOOTSTRAP TOPIC COUNT > LINES
//	franz-client group BOOTSTRAP TOPIC GROUP [instance=ID] [assignor=cooperative] [protocol=consumer]
//
// The last is a consumer of a group, until it is told to stop; see groups/group-consumer.ts for what it prints.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	mode, bootstrap, topic, argument := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	switch mode {
	case "produce":
		produce(ctx, bootstrap, topic, argument)
	case "consume":
		consume(ctx, bootstrap, topic, argument)
	case "group":
		consumeInGroup(bootstrap, topic, argument, os.Args[5:])
	}
}

func consumeInGroup(bootstrap, topic, group string, words []string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	say := func(sign string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			line := sign
			for _, partition := range partitions[topic] {
				line += fmt.Sprintf(" %d", partition)
			}
			fmt.Println(line)
		}
	}
	options := []kgo.Opt{kgo.SeedBrokers(bootstrap), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.MetadataMinAge(100 * time.Millisecond), kgo.MetadataMaxAge(time.Second), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.OnPartitionsAssigned(say("+")), kgo.OnPartitionsRevoked(say("-")), kgo.OnPartitionsLost(say("-"))}
	balancer, isNextGeneration := kgo.GroupBalancer(kgo.RangeBalancer()), false
	sessionTimeout := 2 * time.Second
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case name == "instance":
			options = append(options, kgo.InstanceID(value))
			// It has to be back before its session ends, also where programs start slowly.
			sessionTimeout = time.Minute
		case word == "assignor=cooperative":
			balancer = kgo.CooperativeStickyBalancer()
		case word == "protocol=consumer":
			isNextGeneration = true
		}
	}
	if isNextGeneration {
		options = append(options, kgo.ServerSideBalancer())
	} else {
		options = append(options, kgo.Balancers(balancer), kgo.SessionTimeout(sessionTimeout),
			kgo.HeartbeatInterval(200*time.Millisecond), kgo.RebalanceTimeout(10*time.Second))
	}
	client, err := kgo.NewClient(options...)
	check(err)
	for ctx.Err() == nil {
		fetches := client.PollRecords(ctx, 10)
		fetches.EachRecord(func(r *kgo.Record) { fmt.Printf("%d %d %s\n", r.Partition, r.Offset, r.Value) })
		if err := client.CommitRecords(context.Background(), fetches.Records()...); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		client.AllowRebalance()
	}
	client.CloseAllowingRebalance()
}

func produce(ctx context.Context, bootstrap, topic, codec string) {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.AllowAutoTopicCreation(), kgo.ProducerLinger(5*time.Millisecond),
		kgo.ProducerBatchCompression(codecs[codec]), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	check(err)
	defer client.Close()
	var records []*kgo.Record
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 64<<20)
	for input.Scan() {
		fields := strings.Split(input.Text(), "\t")
		record := &kgo.Record{Topic: topic, Partition: 0, Key: decode(fields[0]), Value: decode(fields[1])}
		for _, header := range strings.FieldsFunc(fields[2], func(r rune) bool { return r == ',' }) {
			name, value, _ := strings.Cut(header, ":")
			record.Headers = append(record.Headers, kgo.RecordHeader{Key: string(decode(name)), Value: decode(value)})
		}
		records = append(records, record)
	}
	check(input.Err())
	check(client.ProduceSync(ctx, records...).FirstErr())
}

func consume(ctx context.Context, bootstrap, topic, count string) {
	left, err := strconv.Atoi(count)
	check(err)
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
	check(err)
	defer client.Close()
	for left > 0 {
		fetches := client.PollFetches(ctx)
		check(fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			var headers []string
			for _, h := range r.Headers {
				headers = append(headers, encode([]byte(h.Key))+":"+encode(h.Value))
			}
			fmt.Printf("%s\t%s\t%s\n", encode(r.Key), encode(r.Value), strings.Join(headers, ","))
			left--
		})
	}
}

func decode(text string) []byte {
	if text == "-" {
		return nil
	}
	bytes, err := base64.StdEncoding.DecodeString(text)
	check(err)
	return bytes
}

func encode(bytes []byte) string {
	if bytes == nil {
		return "-"
	}
	return base64.StdEncoding.EncodeToString(bytes)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
