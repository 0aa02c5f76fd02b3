// Control records: what coordinators write between the records of producers. A control batch holds exactly one.
//
//   key     version  int16   0
//           type     int16   0 ABORT, 1 COMMIT; of KRaft's own logs: 2 LEADER_CHANGE, 3 SNAPSHOT_HEADER, 4 SNAPSHOT_FOOTER,
//                            5 KRAFT_VERSION, 6 KRAFT_VOTERS
//   value   of ABORT and COMMIT:
//           version           int16   0
//           coordinatorEpoch  int32   of the transaction coordinator that ended the transaction

import { buildRecordBatch } from './batch-builder.ts';
import { int16At, int32At, putInt16, putInt32 } from './big-endian.ts';
import { InvalidRecordError } from './record-errors.ts';

const typesByNumber = [
  'ABORT',
  'COMMIT',
  'LEADER_CHANGE',
  'SNAPSHOT_HEADER',
  'SNAPSHOT_FOOTER',
  'KRAFT_VERSION',
  'KRAFT_VOTERS',
] as const;
export type ControlRecordType = (typeof typesByNumber)[number] | 'UNKNOWN';

export interface ControlBatchOptions {
  readonly type: 'commit' | 'abort';
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly coordinatorEpoch: number;
  readonly timestamp: number;
  readonly baseOffset?: number | undefined;
  readonly partitionLeaderEpoch?: number | undefined;
}

/** The marker that ends a transaction in a partition. */
export function buildControlBatch(options: ControlBatchOptions): Buffer {
  const key = Buffer.alloc(4);
  putInt16(key, 2, options.type === 'commit' ? 1 : 0);
  const value = Buffer.alloc(6);
  putInt32(value, 2, options.coordinatorEpoch);
  return buildRecordBatch(
    {
      baseOffset: options.baseOffset,
      partitionLeaderEpoch: options.partitionLeaderEpoch,
      producerId: options.producerId,
      producerEpoch: options.producerEpoch,
      isTransactional: true,
      isControl: true,
    },
    [{ timestamp: options.timestamp, key, value }],
  );
}

/** UNKNOWN for a type of the future, which readers skip. */
export function controlRecordType(key: Buffer | null): ControlRecordType {
  if (key === null || key.length < 4) throw new InvalidRecordError('A control record has a key of less than four bytes');
  const version = int16At(key, 0);
  if (version < 0) throw new InvalidRecordError(`A control record has a key of version ${version}`);
  return typesByNumber[int16At(key, 2)] ?? 'UNKNOWN';
}

export interface EndTransactionMarker {
  readonly type: 'commit' | 'abort';
  readonly coordinatorEpoch: number;
}

/** Null where the record is a control record of another kind. */
export function readEndTransactionMarker(record: {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}): EndTransactionMarker | null {
  const type = controlRecordType(record.key);
  if (type !== 'COMMIT' && type !== 'ABORT') return null;
  if (record.value === null || record.value.length < 6)
    throw new InvalidRecordError('The marker of a transaction has a value of less than six bytes');
  const version = int16At(record.value, 0);
  if (version < 0) throw new InvalidRecordError(`The marker of a transaction has a value of version ${version}`);
  return { type: type === 'COMMIT' ? 'commit' : 'abort', coordinatorEpoch: int32At(record.value, 2) };
}
