// The Java client 0.9.0.1 as a program that writes or reads records as lines (see record-lines.ts); it knows no headers.
//   LegacyClient produce BOOTSTRAP TOPIC CODEC < LINES
//   LegacyClient consume BOOTSTRAP TOPIC COUNT > LINES
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class LegacyClient {
    public static void main(String[] args) throws Exception {
        if (args[0].equals("produce")) produce(args[1], args[2], args[3]);
        else consume(args[1], args[2], Integer.parseInt(args[3]));
    }

    static void produce(String bootstrap, String topic, String codec) throws Exception {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("compression.type", codec);
        config.put("acks", "all");
        config.put("linger.ms", 5);
        config.put("max.in.flight.requests.per.connection", 1);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
                BufferedReader input = new BufferedReader(new InputStreamReader(System.in))) {
            List<Future<?>> sent = new ArrayList<>();
            for (String line; (line = input.readLine()) != null; ) {
                String[] fields = line.split("\t", -1);
                sent.add(producer.send(new ProducerRecord<>(topic, 0, decode(fields[0]), decode(fields[1]))));
            }
            for (Future<?> future : sent) future.get();
        }
    }

    static void consume(String bootstrap, String topic, int count) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("check.crcs", true);
        config.put("enable.auto.commit", false);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(Arrays.asList(partition));
            consumer.seek(partition, 0);
            while (count > 0) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(1000)) {
                    System.out.println(encode(record.key()) + "\t" + encode(record.value()) + "\t");
                    count--;
                }
            }
        }
    }

    static byte[] decode(String text) {
        return text.equals("-") ? null : Base64.getDecoder().decode(text);
    }

    static String encode(byte[] bytes) {
        return bytes == null ? "-" : Base64.getEncoder().encodeToString(bytes);
    }
}
