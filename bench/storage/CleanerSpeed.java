// Compacts logs with Apache Kafka's own cleaner and says how long that took. Reads the folder of a log from each line of standard
// input and answers with milliseconds; the program stays, so that its code is compiled as in a broker that has run for a while.
//
//   java CleanerSpeed SEGMENT_BYTES MAP_BYTES

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

public class CleanerSpeed {
    public static void main(String[] args) throws Exception {
        LogConfig config = new LogConfig(Map.of("cleanup.policy", "compact", "internal.segment.bytes", args[0], "file.delete.delay.ms", "0"));
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        int never = Integer.MAX_VALUE;
        Throttler throttler = new Throttler(Double.MAX_VALUE, 300, "cleaner", "bytes", Time.SYSTEM);
        // With the buffers that a broker gives its only cleaner.
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(Integer.parseInt(args[1])), 256 * 1024, 1024 * 1024, 0.9, throttler,
            Time.SYSTEM, partition -> { });
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String folder = input.readLine(); folder != null; folder = input.readLine()) {
            UnifiedLog log = UnifiedLog.create(new File(folder), config, 0, Long.MAX_VALUE, scheduler, new BrokerTopicStats(), Time.SYSTEM,
                never, new ProducerStateManagerConfig(never, false), never, new LogDirFailureChannel(1), true, Optional.empty());
            log.updateHighWatermark(log.logEndOffset());
            long end = log.activeSegment().baseOffset();
            long start = System.nanoTime();
            LogToClean dirty = new LogToClean(log, 0, end, false);
            while (dirty.firstDirtyOffset() < dirty.firstUncleanableOffset())
                dirty = new LogToClean(log, cleaner.doClean(dirty, System.currentTimeMillis()).getKey(), end, false);
            System.out.println((System.nanoTime() - start) / 1000000);
            log.close();
        }
        scheduler.shutdown();
    }
}
