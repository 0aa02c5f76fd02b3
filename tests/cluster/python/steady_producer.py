"""confluent-kafka (librdkafka) as a producer that goes on until its standard input ends, and says what was acknowledged.

steady_producer.py BOOTSTRAP TOPIC PARTITIONS NAME RECORDS_PER_SECOND

Record N goes to partition N modulo PARTITIONS with the value NAME:N. For each acknowledged record a line "PARTITION OFFSET N" is
printed; a record that is given up prints "failed N REASON".
"""
import sys
import threading
import time

from confluent_kafka import KafkaException, Producer

bootstrap, topic, partitions, name, rate = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], float(sys.argv[5])

producer = Producer(
    {
        "bootstrap.servers": bootstrap,
        "enable.idempotence": True,
        "linger.ms": 2,
        "message.timeout.ms": 600000,
        "topic.metadata.refresh.interval.ms": 1000,
        "reconnect.backoff.max.ms": 500,
        "socket.timeout.ms": 6000,
    }
)


def delivered(number):
    def report(error, message):
        if error is None:
            print(message.partition(), message.offset(), number, flush=True)
        else:
            print("failed", number, error, flush=True)

    return report


stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
number = 0
while not stop.is_set():
    try:
        producer.produce(topic, f"{name}:{number}".encode(), partition=number % partitions, on_delivery=delivered(number))
        number += 1
    except BufferError:
        pass
    if number == partitions:
        # A leader that knows nothing of a producer takes any batch of it, Apache Kafka too. Were the first one refused, by a broker that
        # has not heard yet that it leads, and the second, which is on its way, taken, then librdkafka would report both as acknowledged.
        producer.flush()
    producer.poll(0)
    time.sleep(1 / rate)
if producer.flush(120) > 0:
    print("failed", number, "not flushed", flush=True)
