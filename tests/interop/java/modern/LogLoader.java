// Opens the folder of a log as a broker does at its start, says what it found, and closes it as a broker does when it stops.
//
//   java LogLoader FOLDER CLEAN RECOVERY_POINT LOG_START_OFFSET

import java.io.File;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

public class LogLoader {
    public static void main(String[] args) throws Exception {
        File folder = new File(args[0]);
        boolean isClean = Boolean.parseBoolean(args[1]);
        long recoveryPoint = Long.parseLong(args[2]);
        long logStartOffset = Long.parseLong(args[3]);
        LogConfig config = new LogConfig(Map.of("index.interval.bytes", "200", "retention.ms", "-1", "segment.index.bytes", "1000"));
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        int never = Integer.MAX_VALUE;
        UnifiedLog log = UnifiedLog.create(folder, config, logStartOffset, recoveryPoint, scheduler, new BrokerTopicStats(), Time.SYSTEM,
            never, new ProducerStateManagerConfig(never, false), never, new LogDirFailureChannel(1), isClean, Optional.empty());

        System.out.println("logStartOffset " + log.logStartOffset());
        System.out.println("logEndOffset " + log.logEndOffset());
        log.updateHighWatermark(log.logEndOffset());
        System.out.println("lastStableOffset " + log.lastStableOffset());
        System.out.println("latestEpoch " + log.latestEpoch().orElse(-1));
        System.out.println("topicId " + log.topicId().map(Object::toString).orElse("none"));
        for (LogSegment segment : log.logSegments()) {
            segment.offsetIndex().sanityCheck();
            segment.timeIndex().sanityCheck();
            System.out.println("segment " + segment.baseOffset() + " " + segment.size() + " " + segment.offsetIndex().entries() + " "
                + segment.timeIndex().entries() + " " + segment.maxTimestampSoFar());
        }
        log.activeProducers().stream().sorted(Comparator.comparingLong(producer -> producer.producerId())).forEach(producer ->
            System.out.println("producer " + producer.producerId() + " " + producer.producerEpoch() + " " + producer.lastSequence() + " "
                + producer.coordinatorEpoch() + " " + producer.currentTxnStartOffset()));
        long records = 0;
        Set<String> aborted = new TreeSet<>();
        for (long offset = log.logStartOffset(); offset < log.lastStableOffset(); ) {
            FetchDataInfo read = log.read(offset, 1, FetchIsolation.TXN_COMMITTED, true);
            read.abortedTransactions.get().forEach(each -> aborted.add("aborted " + each.producerId() + " " + each.firstOffset()));
            for (RecordBatch batch : read.records.batches()) {
                batch.ensureValid();
                for (var record : batch) records += record.offset() >= log.logStartOffset() ? 1 : 0;
                offset = batch.nextOffset();
            }
        }
        aborted.forEach(System.out::println);
        System.out.println("records " + records);
        log.close();
        scheduler.shutdown();
    }
}
