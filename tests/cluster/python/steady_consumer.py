"""confluent-kafka (librdkafka) as a member of a group that goes on until its standard input ends, and says what it saw and committed.

steady_consumer.py BOOTSTRAP GROUP TOPIC

Lines: "seen PARTITION VALUE" for each record; "committed PARTITION OFFSET" when a commit was acknowledged; "assigned PARTITION OFFSET" with
the committed offset from which a partition goes on, -1 when there is none; "revoked PARTITION"; "trouble REASON".
"""
import sys
import threading
import time

from confluent_kafka import Consumer, KafkaException

bootstrap, group, topic = sys.argv[1:]


def say(*words):
    print(*words, flush=True)


consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 500,
        "topic.metadata.refresh.interval.ms": 1000,
        "reconnect.backoff.max.ms": 500,
        "socket.timeout.ms": 6000,
    }
)
positions = {}


def assigned(_consumer, partitions):
    while True:
        try:
            found = consumer.committed(partitions, timeout=10)
            break
        except KafkaException as error:
            say("trouble", error)
    for partition in found:
        say("assigned", partition.partition, max(partition.offset, -1))
    consumer.assign(found)


def revoked(_consumer, partitions):
    commit()
    for partition in partitions:
        positions.pop(partition.partition, None)
        say("revoked", partition.partition)


def commit():
    from confluent_kafka import TopicPartition

    offsets = [TopicPartition(topic, partition, offset) for partition, offset in positions.items()]
    if not offsets:
        return
    try:
        for done in consumer.commit(offsets=offsets, asynchronous=False):
            if done.error is None:
                say("committed", done.partition, done.offset)
            else:
                say("trouble", done.error)
    except KafkaException as error:
        say("trouble", error)


stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
consumer.subscribe([topic], on_assign=assigned, on_revoke=revoked)
due = time.monotonic()
while not stop.is_set():
    message = consumer.poll(0.1)
    if message is not None:
        if message.error():
            say("trouble", message.error())
        else:
            say("seen", message.partition(), message.value().decode())
            positions[message.partition()] = message.offset() + 1
    if time.monotonic() >= due:
        commit()
        due = time.monotonic() + 0.2
consumer.close()
