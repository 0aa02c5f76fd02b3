"""kafka-python as a program that writes or reads records as lines.

kafka_python_client.py produce BOOTSTRAP TOPIC CODEC < LINES
kafka_python_client.py consume BOOTSTRAP TOPIC COUNT > LINES
"""
import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from record_lines import print_record, read_records


def produce(bootstrap, topic, codec):
    compression = None if codec == "none" else codec
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", linger_ms=5, compression_type=compression)
    sent = [
        producer.send(topic, value=value, key=key, headers=headers, partition=0)
        for key, value, headers in read_records()
    ]
    producer.flush(timeout=60)
    for future in sent:
        future.get(timeout=60)
    producer.close()


def consume(bootstrap, topic, count):
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, check_crcs=True, enable_auto_commit=False)
    partition = TopicPartition(topic, 0)
    consumer.assign([partition])
    consumer.seek_to_beginning(partition)
    left = int(count)
    while left > 0:
        for records in consumer.poll(timeout_ms=30000).values():
            for record in records:
                print_record(record.key, record.value, record.headers)
            left -= len(records)
    consumer.close()


{"produce": produce, "consume": consume}[sys.argv[1]](*sys.argv[2:])
