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
  /** Whom we believe to speak to. Asking that takes a version that brokers before 4.1 do not know, and so a second question. */
  readonly clusterId?: string | undefined;
  readonly nodeId?: number | undefined;
}

/** `ask` sends the request in the version and gives what follows the header of the answer. */
export async function askForVersions(
  question: VersionQuestion,
  ask: (version: number, request: MessageInit<typeof ApiVersionsRequest>) => Promise<Buffer>,
): Promise<ServedVersions> {
  const { softwareName: clientSoftwareName, softwareVersion: clientSoftwareVersion, clusterId = null, nodeId = -1 } = question;
  const request = { clientSoftwareName, clientSoftwareVersion, clusterId, nodeId };
  const highest = ApiVersionsRequest.versions.max;
  let version = clusterId === null && nodeId < 0 ? Math.min(4, highest) : highest;
  for (;;) {
    const body = await ask(version, request);
    const errorCode = body.length >= 2 ? body.readInt16BE(0) : errorCodes.UNKNOWN_SERVER_ERROR;
    if (errorCode === errorCodes.UNSUPPORTED_VERSION && version > 0) {
      version = nextVersion(body, version);
      continue;
    }
    if (errorCode === errorCodes.REBOOTSTRAP_REQUIRED) {
      throw new ConnectionError('wrongBroker', `The address belongs to another broker than ${nodeId} by now`);
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
