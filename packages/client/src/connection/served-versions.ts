// Finds out which versions of which APIs a broker speaks: the first question on every connection.
//
// A broker that does not know the version of the question says so in the layout of version 0, and since Kafka 2.4 it adds the versions
// that it knows; the question is then asked again. Brokers before 0.10 know no ApiVersions at all and hang up.

import {
  ApiVersionsRequest,
  ApiVersionsResponse,
  decodeMessage,
  errorByCode,
  errorCodes,
  type MessageInit,
  type VersionRange,
} from '@odradek/protocol';
import { ConnectionError } from './connection-error.ts';

/** By API key. */
export type ServedVersions = ReadonlyMap<number, VersionRange>;

export interface VersionQuestion {
  readonly softwareName: string;
  readonly softwareVersion: string;
  /**
   * Whom we believe to speak to; brokers take both or neither. Asking that takes a version that older brokers do not know, and so a
   * second question.
   */
  readonly clusterId?: string | undefined;
  readonly nodeId?: number | undefined;
}

const firstVersionWithExpectation = 5;

/** `ask` sends the request in the version and gives what follows the header of the answer. */
export async function askForVersions(
  question: VersionQuestion,
  ask: (version: number, request: MessageInit<typeof ApiVersionsRequest>) => Promise<Buffer>,
): Promise<ServedVersions> {
  const { softwareName: clientSoftwareName, softwareVersion: clientSoftwareVersion, clusterId, nodeId = -1 } = question;
  const expectsSomebody = clusterId !== undefined && nodeId >= 0;
  const request = { clientSoftwareName, clientSoftwareVersion, ...(expectsSomebody ? { clusterId, nodeId } : {}) };
  let version = expectsSomebody ? firstVersionWithExpectation : firstVersionWithExpectation - 1;
  for (;;) {
    const body = await ask(version, request);
    const errorCode = body.length >= 2 ? body.readInt16BE(0) : errorCodes.UNKNOWN_SERVER_ERROR;
    if (errorCode === errorCodes.UNSUPPORTED_VERSION && version > 0) {
      version = nextVersion(body, version);
      continue;
    }
    if (errorCode === errorCodes.REBOOTSTRAP_REQUIRED) {
      throw new ConnectionError('wrongBroker', `The address belongs to another broker than ${nodeId} of ${clusterId} by now`);
    }
    if (errorCode !== errorCodes.NONE) {
      throw new ConnectionError('malformed', `The broker answers ApiVersions with ${errorByCode(errorCode).name}`);
    }
    const { apiKeys } = decodeMessage(ApiVersionsResponse, version, body);
    return new Map(apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { min: minVersion, max: maxVersion }]));
  }
}

function nextVersion(refusal: Buffer, refused: number): number {
  const own = decodeMessage(ApiVersionsResponse, 0, refusal).apiKeys.find(({ apiKey }) => apiKey === ApiVersionsRequest.apiKey);
  return own === undefined ? 0 : Math.max(0, Math.min(own.maxVersion, refused - 1));
}
