// The newest Java client as an idempotent producer, or as a member of a group, that goes on until its standard input ends.
//   SteadyClient produce BOOTSTRAP TOPIC PARTITIONS NAME RECORDS_PER_SECOND
//   SteadyClient consume BOOTSTRAP GROUP TOPIC
// What they print is what python/steady_producer.py and steady_consumer.py print.
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class SteadyClient {
    static final CountDownLatch stopped = new CountDownLatch(1);

    public static void main(String[] args) throws Exception {
        Thread input = new Thread(() -> {
            try {
                while (System.in.read() >= 0) continue;
            } catch (java.io.IOException gone) {
                // Whoever started us is gone.
            }
            stopped.countDown();
        });
        input.setDaemon(true);
        input.start();
        if (args[0].equals("produce")) produce(args[1], args[2], Integer.parseInt(args[3]), args[4], Double.parseDouble(args[5]));
        else consume(args[1], args[2], args[3]);
    }

    static synchronized void say(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) line.append(line.length() == 0 ? "" : " ").append(String.valueOf(word).replace('\n', ' '));
        System.out.println(line);
        System.out.flush();
    }

    static void produce(String bootstrap, String topic, int partitions, String name, double rate) throws Exception {
        // Idempotent, with acks of all replicas in sync, as the client is when left alone; it does not give up.
        Map<String, Object> config = Map.of(
            "bootstrap.servers", bootstrap,
            "linger.ms", 2,
            "request.timeout.ms", 6000,
            "delivery.timeout.ms", 600000,
            "max.block.ms", 600000,
            "metadata.max.age.ms", 1000,
            "reconnect.backoff.max.ms", 500);
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            long periodNs = (long) (1e9 / rate);
            for (int next = 0; !stopped.await(periodNs, TimeUnit.NANOSECONDS); next++) {
                int number = next;
                producer.send(new ProducerRecord<>(topic, number % partitions, null, name + ":" + number), (metadata, error) -> {
                    if (error == null) say(metadata.partition(), metadata.offset(), number);
                    else say("failed", number, error);
                });
            }
        }
    }

    static void consume(String bootstrap, String group, String topic) {
        Map<String, Object> config = Map.of(
            "bootstrap.servers", bootstrap,
            "group.id", group,
            "auto.offset.reset", "earliest",
            "enable.auto.commit", false,
            "session.timeout.ms", 6000,
            "heartbeat.interval.ms", 500,
            "request.timeout.ms", 6000,
            "default.api.timeout.ms", 10000,
            "metadata.max.age.ms", 1000,
            "reconnect.backoff.max.ms", 500);
        try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
            consumer.subscribe(List.of(topic), new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                    for (TopicPartition partition : partitions) say("assigned", partition.partition(), committed(consumer, partition));
                }

                @Override
                public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                    commit(consumer, positions);
                    onPartitionsLost(partitions);
                }

                @Override
                public void onPartitionsLost(Collection<TopicPartition> partitions) {
                    for (TopicPartition partition : partitions) {
                        positions.remove(partition);
                        say("revoked", partition.partition());
                    }
                }
            });
            long dueNs = System.nanoTime();
            while (stopped.getCount() > 0) {
                for (var record : consumer.poll(Duration.ofMillis(100))) {
                    say("seen", record.partition(), record.value());
                    positions.put(new TopicPartition(topic, record.partition()), new OffsetAndMetadata(record.offset() + 1));
                }
                if (System.nanoTime() < dueNs) continue;
                commit(consumer, positions);
                dueNs = System.nanoTime() + 200_000_000;
            }
        }
    }

    static long committed(KafkaConsumer<String, String> consumer, TopicPartition partition) {
        for (;;) {
            try {
                OffsetAndMetadata found = consumer.committed(Set.of(partition)).get(partition);
                return found == null ? -1 : found.offset();
            } catch (KafkaException error) {
                say("trouble", error);
            }
        }
    }

    static void commit(KafkaConsumer<String, String> consumer, Map<TopicPartition, OffsetAndMetadata> positions) {
        if (positions.isEmpty()) return;
        try {
            consumer.commitSync(positions);
            positions.forEach((partition, position) -> say("committed", partition.partition(), position.offset()));
        } catch (KafkaException error) {
            say("trouble", error);
        }
    }
}
