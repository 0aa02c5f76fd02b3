// How the answer to a produce request is made, partition by partition.

import { errorCodes, type ProtocolError } from '@odradek/protocol';
import type { AppendInfo } from '@odradek/storage';
import type { Partition } from '../replication/partition.ts';

/** One partition's part of the answer, made whole at once and corrected when a write or its replication fails. */
export interface PartitionAnswer {
  readonly index: number;
  errorCode: number;
  baseOffset: number;
  logAppendTimeMs: number;
  logStartOffset: number;
  recordErrors: readonly { readonly batchIndex: number; readonly batchIndexErrorMessage: string | null }[];
  errorMessage: string | null;
  currentLeader: { readonly leaderId: number; readonly leaderEpoch: number } | undefined;
}

export interface TopicAnswer {
  readonly name: string;
  readonly topicId: string;
  readonly partitionResponses: PartitionAnswer[];
}

const noRecordErrors: readonly never[] = [];

/** As it will be when everything goes well from here. */
export function appended(index: number, info: AppendInfo): PartitionAnswer {
  return {
    index,
    errorCode: errorCodes.NONE,
    baseOffset: info.firstOffset,
    logAppendTimeMs: info.logAppendTime,
    logStartOffset: info.logStartOffset,
    recordErrors: noRecordErrors,
    errorMessage: null,
    currentLeader: undefined,
  };
}

/** The records were not appended: the log of this partition refused them, or they never came so far. */
export function refusal(index: number, error: ProtocolError, partition?: Partition): PartitionAnswer {
  const answer: PartitionAnswer = {
    index,
    errorCode: error.code,
    baseOffset: -1,
    logAppendTimeMs: -1,
    logStartOffset: tellsLogStart(error.code) && partition?.hasLog === true ? partition.log.logStartOffset : -1,
    recordErrors: noRecordErrors,
    errorMessage: null,
    currentLeader: undefined,
  };
  const recordErrors = recordErrorsOf(error);
  if (recordErrors !== undefined) {
    answer.recordErrors = recordErrors.map(({ batchIndex, message }) => ({ batchIndex, batchIndexErrorMessage: message }));
    answer.errorMessage = error.message;
  }
  return answer;
}

/** They were, but could not be written. */
export function fail(answer: PartitionAnswer, error: ProtocolError): void {
  answer.errorCode = error.code;
  answer.baseOffset = -1;
  answer.logAppendTimeMs = -1;
  if (!tellsLogStart(error.code)) answer.logStartOffset = -1;
}

/** Where the log starts is told with errors that lie in the records or their order, not with those of the partition. */
function tellsLogStart(code: number): boolean {
  switch (code) {
    case errorCodes.UNKNOWN_TOPIC_OR_PARTITION:
    case errorCodes.NOT_LEADER_OR_FOLLOWER:
    case errorCodes.MESSAGE_TOO_LARGE:
    case errorCodes.RECORD_LIST_TOO_LARGE:
    case errorCodes.CORRUPT_MESSAGE:
    case errorCodes.KAFKA_STORAGE_ERROR:
      return false;
    default:
      return true;
  }
}

/** The log tells with a failed validation which records it was about. */
function recordErrorsOf(
  error: ProtocolError,
): readonly { readonly batchIndex: number; readonly message: string | null }[] | undefined {
  return 'recordErrors' in error && Array.isArray(error.recordErrors) ? error.recordErrors : undefined;
}
