// Compacts the log in a folder with Apache Kafka's own cleaner, the whole of it once for each time that is given.
//
//   java KafkaCleaner FOLDER SEGMENT_BYTES DELETE_RETENTION_MS MAP_BYTES TIME_MS…

import java.io.File;
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

public class KafkaCleaner {
    public static void main(String[] args) throws Exception {
        LogConfig config = new LogConfig(Map.of("cleanup.policy", "compact", "internal.segment.bytes", args[1],
            "delete.retention.ms", args[2], "file.delete.delay.ms", "0"));
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        int never = Integer.MAX_VALUE;
        UnifiedLog log = UnifiedLog.create(new File(args[0]), config, 0, Long.MAX_VALUE, scheduler, new BrokerTopicStats(), Time.SYSTEM,
            never, new ProducerStateManagerConfig(never, false), never, new LogDirFailureChannel(1), true, Optional.empty());
        log.updateHighWatermark(log.logEndOffset());
        Throttler throttler = new Throttler(Double.MAX_VALUE, 300, "cleaner", "bytes", Time.SYSTEM);
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(Integer.parseInt(args[3])), 64 * 1024, 1024 * 1024, 0.9, throttler, Time.SYSTEM,
            partition -> { });
        for (int index = 4; index < args.length; index++) {
            long end = Math.min(log.lastStableOffset(), log.activeSegment().baseOffset());
            long timeMs = Long.parseLong(args[index]);
            LogToClean dirty = new LogToClean(log, 0, end, false);
            while (dirty.firstDirtyOffset() < dirty.firstUncleanableOffset())
                dirty = new LogToClean(log, cleaner.doClean(dirty, timeMs).getKey(), end, false);
        }
        System.out.println("logStartOffset " + log.logStartOffset());
        System.out.println("logEndOffset " + log.logEndOffset());
        log.close();
        scheduler.shutdown();
    }
}
