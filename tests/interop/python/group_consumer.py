"""A consumer of a group, for confluent-kafka or kafka-python: see groups/group-consumer.ts for what it prints.

group_consumer.py confluent|kafka-python BOOTSTRAP GROUP TOPIC [instance=ID] [assignor=cooperative] [protocol=consumer]
"""
import signal
import sys

library, bootstrap, group, topic, *rest = sys.argv[1:]
options = dict(word.split("=", 1) for word in rest)
# A static member has to be back before its session ends, also where programs start slowly; others shall be missed soon.
session_timeout_ms = 60_000 if "instance" in options else 2000
running = True


def stop(_signal, _frame):
    global running
    running = False


def say(*words):
    print(*words, flush=True)


def confluent():
    from confluent_kafka import Consumer, KafkaException

    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "topic.metadata.refresh.interval.ms": 1000,
    }
    if "instance" in options:
        settings["group.instance.id"] = options["instance"]
    if options.get("protocol") == "consumer":
        settings["group.protocol"] = "consumer"
    else:
        settings["session.timeout.ms"] = session_timeout_ms
        settings["heartbeat.interval.ms"] = 200
        cooperative = options.get("assignor") == "cooperative"
        settings["partition.assignment.strategy"] = "cooperative-sticky" if cooperative else "range"
    consumer = Consumer(settings)
    consumer.subscribe(
        [topic],
        on_assign=lambda _consumer, partitions: say("+", *[p.partition for p in partitions]),
        on_revoke=lambda _consumer, partitions: say("-", *[p.partition for p in partitions]),
    )
    while running:
        message = consumer.poll(0.1)
        if message is None:
            continue
        if message.error():
            print(message.error(), file=sys.stderr, flush=True)
            continue
        say(message.partition(), message.offset(), message.value().decode())
        try:
            consumer.commit(message=message, asynchronous=False)
        except KafkaException as error:
            # In a cooperative rebalance the group goes on while records are handled.
            print(error, file=sys.stderr, flush=True)
    consumer.close()


def kafka_python():
    from kafka import ConsumerRebalanceListener, KafkaConsumer
    from kafka.errors import CommitFailedError

    class Listener(ConsumerRebalanceListener):
        def on_partitions_assigned(self, partitions):
            say("+", *[p.partition for p in partitions])

        def on_partitions_revoked(self, partitions):
            say("-", *[p.partition for p in partitions])

    more = {"group_instance_id": options["instance"]} if "instance" in options else {}
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=session_timeout_ms,
        heartbeat_interval_ms=200,
        metadata_max_age_ms=1000,
        **more,
    )
    consumer.subscribe([topic], listener=Listener())
    # The topic has to be known before the group is joined. When a leader learns of it later, it joins again, and if poll() returns
    # between the assignment that it makes then and the broker's answer, kafka-python 3.0.12 takes itself for joined and never reads.
    consumer.topics()
    while running:
        polled = consumer.poll(timeout_ms=100)
        for records in polled.values():
            for record in records:
                say(record.partition, record.offset, record.value.decode())
        if not polled:
            continue
        # Not before: it commits everything that was polled.
        try:
            consumer.commit()
        except CommitFailedError as error:
            print(error, file=sys.stderr, flush=True)
    consumer.close()


signal.signal(signal.SIGTERM, stop)
{"confluent": confluent, "kafka-python": kafka_python}[library]()
