// Whether a produce request carries records of a transaction, which it must then name.

import { magicPosition, type ProduceRequest, RecordBatch, recordBatchOverhead } from '@odradek/protocol';

/** What is no batch is for others to refuse. Partitions have one batch each where there are transactions. */
export function hasTransactionalRecords({ topicData }: ProduceRequest): boolean {
  for (const { partitionData } of topicData) {
    for (const { records } of partitionData) {
      if (records === null || records.length < recordBatchOverhead || records[magicPosition] !== 2) continue;
      if (new RecordBatch(records, 0).isTransactional) return true;
    }
  }
  return false;
}
