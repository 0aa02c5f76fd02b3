// The names of the files and folders of a log, as Kafka has them.
//
//   topic-0/00000000000000000000.log        records; the number is the segment's base offset, in 20 digits
//           00000000000000000000.index      offset → position
//           00000000000000000000.timeindex  timestamp → offset
//           00000000000000000000.txnindex   aborted transactions; only where there are any
//           00000000000000000042.snapshot   producer states before that offset
//           leader-epoch-checkpoint         leader epoch → start offset
//           partition.metadata              the topic's id
//   topic-0.<32 hex digits>-delete          a log that will be removed after file.delete.delay.ms
//   topic-0.<32 hex digits>-future          a log that is moving here from another directory
//   topic-0.<32 hex digits>-stray           a log that no topic claims
//   *.deleted *.cleaned *.swap              files of a segment in the middle of being replaced or removed

export const suffix = {
  records: '.log',
  offsetIndex: '.index',
  timeIndex: '.timeindex',
  transactionIndex: '.txnindex',
  snapshot: '.snapshot',
  deleted: '.deleted',
  cleaned: '.cleaned',
  swap: '.swap',
} as const;

/** The endings of the files that make up a segment. */
export const segmentEndings = [suffix.records, suffix.offsetIndex, suffix.timeIndex, suffix.transactionIndex] as const;

export const leaderEpochFile = 'leader-epoch-checkpoint';
export const partitionMetadataFile = 'partition.metadata';

/** Folders that are not the log of a partition, though their names begin like one. */
export const randomFolderSuffixes = /-(delete|future|stray)$/;
export const futureFolder = /^(.+)\.[0-9a-f]{32}-future$/;
/** What somebody else calls `old-delete` is not ours to remove. */
export const deletedFolder = /^.+\.[0-9a-f]{32}-delete$/;

export const longestFileName = 255;

/**
 * The name of a log's folder that is not, or no more, the log of its partition. A future log's is parsed again at the next start, so
 * it is not cut; the others are cut to what a file name may be.
 */
export function setAsideFolder(key: string, what: 'delete' | 'future' | 'stray', uniqueHex: string): string {
  const ending = `.${uniqueHex}-${what}`;
  return what === 'future' ? `${key}${ending}` : `${key.slice(0, longestFileName - ending.length)}${ending}`;
}

export function segmentFileName(baseOffset: number, ending: string): string {
  return `${String(baseOffset).padStart(20, '0')}${ending}`;
}

/** The offset in a segment file's name; undefined for any other file. */
export function offsetOfFileName(name: string, ending: string): number | undefined {
  if (!name.endsWith(ending)) return undefined;
  const digits = name.slice(0, -ending.length);
  return /^\d{20}$/.test(digits) ? Number(digits) : undefined;
}

const filesOfLog = new RegExp(
  `^(\\d{20}(${[...segmentEndings, suffix.snapshot].join('|')})(${suffix.deleted}|${suffix.cleaned}|${suffix.swap})?|${leaderEpochFile}|${partitionMetadataFile})$`,
);

/** Whether files of that name are a log's. */
export function isFileOfLog(name: string): boolean {
  return filesOfLog.test(name);
}
