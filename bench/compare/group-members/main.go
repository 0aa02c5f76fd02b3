// Many members of one group, from one process.
//
//	group-members BOOTSTRAP PARTITIONS MEMBERS classic|consumer
//
// Makes a topic, lets the members join at once, waits until the group is stable with all of them and all partitions are theirs, and
// says after how many milliseconds that was. Then the members leave.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	bootstrap, protocol := os.Args[1], os.Args[4]
	partitions, err := strconv.Atoi(os.Args[2])
	check(err)
	members, err := strconv.Atoi(os.Args[3])
	check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Second)
	defer cancel()

	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	check(err)
	admin := kadm.NewClient(client)
	name := fmt.Sprintf("%s-%d", protocol, time.Now().UnixNano())
	created, err := admin.CreateTopic(ctx, int32(partitions), 1, nil, name)
	check(err)
	check(created.Err)
	// The topic of the offsets is made with the first group, which is not what is measured.
	for _, err = admin.FetchOffsets(ctx, name); err != nil; _, err = admin.FetchOffsets(ctx, name) {
		check(ctx.Err())
		time.Sleep(100 * time.Millisecond)
	}

	// The coordinator of Apache Kafka hears of a topic when its partitions are there, which takes seconds. A group that forms before
	// is stable with nothing.
	for offsets, err := admin.ListStartOffsets(ctx, name); err != nil || offsets.Error() != nil || len(offsets[name]) < partitions; {
		check(ctx.Err())
		time.Sleep(100 * time.Millisecond)
		offsets, err = admin.ListStartOffsets(ctx, name)
	}
	time.Sleep(time.Second)

	options := []kgo.Opt{kgo.SeedBrokers(bootstrap), kgo.ConsumerGroup(name), kgo.ConsumeTopics(name),
		kgo.Balancers(kgo.RangeBalancer()), kgo.FetchMaxWait(5 * time.Second),
		kgo.SessionTimeout(45 * time.Second), kgo.RebalanceTimeout(60 * time.Second)}
	if protocol == "consumer" {
		options = append(options, kgo.ServerSideBalancer())
	}
	started := time.Now()
	clients := make([]*kgo.Client, members)
	for i := range clients {
		clients[i], err = kgo.NewClient(options...)
		check(err)
		go func() {
			for !clients[i].PollFetches(context.Background()).IsClientClosed() {
			}
		}()
	}
	for {
		state, count, assigned, err := describe(ctx, admin, name, protocol)
		if err == nil && state == "Stable" && count == members && assigned == partitions {
			break
		}
		if ctx.Err() != nil {
			log.Fatalf("gave up: %d members with %d partitions, state %s, %v", count, assigned, state, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Printf("%d members stable after %d ms\n", members, time.Since(started).Milliseconds())
	var leaving sync.WaitGroup
	for _, member := range clients {
		leaving.Go(member.Close)
	}
	leaving.Wait()
}

// The group's state, its members, and the partitions that they have.
func describe(ctx context.Context, admin *kadm.Client, group, protocol string) (string, int, int, error) {
	if protocol == "consumer" {
		groups, err := admin.DescribeConsumerGroups(ctx, group)
		described := groups[group]
		return described.State, len(described.Members), len(described.AssignedPartitions()[group]), err
	}
	groups, err := admin.DescribeGroups(ctx, group)
	described := groups[group]
	return described.State, len(described.Members), len(described.AssignedPartitions()[group]), err
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
