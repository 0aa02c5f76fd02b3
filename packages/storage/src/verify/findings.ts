// What a verification finds, and the rules that it looks at.

/** Each rule, and what holds where it is kept. */
export const verificationRules = {
  // The records
  'batch-size': 'a batch lies whole in its file, and declares a size that some format has',
  'batch-format': 'the format of a batch is known, and its header whole',
  'batch-crc': 'the checksum of a batch is that of its bytes',
  'batch-records': 'a batch holds the records that it declares, with ascending offsets within its own',
  'max-timestamp': 'the largest timestamp of a batch is that of its records',
  'offset-order': 'offsets ascend from batch to batch and from segment to segment',
  'offset-range': 'the offsets of a segment lie below the next one and are expressible in its indexes',
  'offset-gap': 'offsets follow each other without a gap, but for compacted topics',
  // Leader epochs
  'leader-epoch-order': 'the leader epochs of batches do not descend',
  'leader-epoch-file': 'leader-epoch-checkpoint is readable, and ascends in both columns within the log',
  'leader-epoch-agreement': 'leader-epoch-checkpoint gives each batch the epoch that the batch has',
  // Indexes
  'index-missing': 'a segment with records has an offset index and a time index',
  'index-size': 'an index has whole entries only, and nothing but zeros of the active segment behind them',
  'index-order': 'the entries of an index ascend',
  'index-position': 'an offset index points to where batches begin',
  'index-offset': 'the offset of an index entry is that of a batch in its place',
  'time-index-offset': 'the entry of a time index names the batch with its timestamp',
  'time-index-max': 'no batch before the one that a time index names has a later timestamp',
  'time-index-end': 'the last entry of a closed time index has the largest timestamp of the segment',
  'transaction-index': 'the entries of a transaction index are the aborted transactions of its segment',
  // Producers
  'snapshot-damaged': 'a producer snapshot has the checksum of its bytes',
  'snapshot-offset': 'a producer snapshot is of an offset of the log that lies between batches',
  'snapshot-content': 'a producer snapshot says what the batches before it say',
  // Checkpoints
  'checkpoint-damaged': 'a checkpoint is readable',
  'checkpoint-orphan': 'a checkpoint names logs that are there',
  'recovery-point': 'the recovery point lies within the log',
  'high-watermark': 'the high watermark lies within the log',
  'log-start-offset': 'the log start offset lies within the log',
  'cleaner-offset': 'what is compacted lies within the log',
  // Directories and folders
  'meta-properties': 'meta.properties says whose the directory is, and all directories agree',
  'partition-metadata': 'partition.metadata names the topic, the same one for all its partitions',
  'duplicate-log': 'a partition has one log in all directories together',
  'orphan-index': 'an index or transaction index has records beside it',
  leftover: 'nothing is left of a deletion, a replacement or a move that was interrupted, and no stray log',
  unreadable: 'files can be read',
} as const satisfies Readonly<Record<string, string>>;

export type VerificationRule = keyof typeof verificationRules;

export interface Finding {
  readonly rule: VerificationRule;
  readonly path: string;
  /** In bytes; undefined where the file as a whole is meant. */
  readonly position: number | undefined;
  /** What is there, in words. */
  readonly detail: string;
  /** The next start repairs it, or cuts it off as what a crash left unfinished. */
  readonly isMended: boolean;
}

/** Takes findings. */
export type Report = (
  rule: VerificationRule,
  path: string,
  position: number | undefined,
  detail: string,
  isMended: boolean,
) => void;
