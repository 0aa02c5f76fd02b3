// The newest Java client as a program that writes or reads records as lines (see record-lines.ts).
//   ModernClient produce BOOTSTRAP TOPIC CODEC < LINES
//   ModernClient consume BOOTSTRAP TOPIC COUNT > LINES
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class ModernClient {
    public static void main(String[] args) throws Exception {
        if (args[0].equals("produce")) produce(args[1], args[2], args[3]);
        else consume(args[1], args[2], Integer.parseInt(args[3]));
    }

    static void produce(String bootstrap, String topic, String codec) throws Exception {
        // All else is as the client has it: idempotent, acks=all, five requests in flight.
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap, "compression.type", codec);
        try (var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
                var input = new BufferedReader(new InputStreamReader(System.in))) {
            List<Future<?>> sent = new ArrayList<>();
            for (String line; (line = input.readLine()) != null; ) {
                String[] fields = line.split("\t", -1);
                List<Header> headers = new ArrayList<>();
                for (String header : fields[2].split(",")) {
                    if (header.isEmpty()) continue;
                    String[] pair = header.split(":", -1);
                    headers.add(new RecordHeader(new String(decode(pair[0]), "UTF-8"), decode(pair[1])));
                }
                sent.add(producer.send(new ProducerRecord<>(topic, 0, decode(fields[0]), decode(fields[1]), headers)));
            }
            for (Future<?> future : sent) future.get();
        }
    }

    static void consume(String bootstrap, String topic, int count) throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap, "check.crcs", true);
        try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            while (count > 0) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(30))) {
                    List<String> headers = new ArrayList<>();
                    for (Header header : record.headers())
                        headers.add(encode(header.key().getBytes("UTF-8")) + ":" + encode(header.value()));
                    System.out.println(encode(record.key()) + "\t" + encode(record.value()) + "\t" + String.join(",", headers));
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
