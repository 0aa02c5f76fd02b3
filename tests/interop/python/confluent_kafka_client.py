"""confluent-kafka (librdkafka) as a program that writes or reads records as lines.

confluent_kafka_client.py produce BOOTSTRAP TOPIC CODEC < LINES
confluent_kafka_client.py consume BOOTSTRAP TOPIC COUNT > LINES
"""
import sys

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from record_lines import print_record, read_records


def produce(bootstrap, topic, codec):
    producer = Producer(
        {"bootstrap.servers": bootstrap, "compression.type": codec, "enable.idempotence": True, "linger.ms": 5}
    )
    failures = []

    def delivered(error, _message):
        if error is not None:
            failures.append(str(error))

    for key, value, headers in read_records():
        producer.produce(topic, value=value, key=key, headers=headers, partition=0, on_delivery=delivered)
    if producer.flush(60) > 0 or failures:
        sys.exit(f"not delivered: {failures[:3]}")


def consume(bootstrap, topic, count):
    # librdkafka wants a group id even where partitions are assigned by hand; nothing is asked of the group.
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False, "check.crcs": True}
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    for left in range(int(count), 0, -1):
        message = consumer.poll(30)
        if message is None:
            sys.exit(f"{left} records did not come")
        if message.error():
            sys.exit(str(message.error()))
        print_record(message.key(), message.value(), message.headers())
    consumer.close()


{"produce": produce, "consume": consume}[sys.argv[1]](*sys.argv[2:])
