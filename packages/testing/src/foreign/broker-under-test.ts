// The broker that a black-box test speaks to: Odradek in a process of its own, or, to prove the test itself, any broker
// that ODRADEK_TEST_BOOTSTRAP (host:port) names; Apache Kafka above all.

import { randomBytes } from 'node:crypto';
import { type OdradekProcess, type OdradekProcessOptions, startOdradekProcess } from '../odradek-process.ts';

export interface BrokerUnderTest {
  readonly host: string;
  readonly port: number;
  readonly bootstrap: string;
  /** undefined when the broker is somebody else's. */
  readonly odradek: OdradekProcess | undefined;
  close(): Promise<void>;
}

/** One partition a topic unless asked otherwise, so that records come back in the order in which they went. */
export async function brokerUnderTest(options: OdradekProcessOptions = {}): Promise<BrokerUnderTest> {
  const external = process.env['ODRADEK_TEST_BOOTSTRAP'];
  if (external !== undefined) {
    const [host = '', port = ''] = external.split(':');
    return { host, port: Number(port), bootstrap: external, odradek: undefined, close: () => Promise.resolve() };
  }
  const odradek = await startOdradekProcess({ ...options, properties: { 'num.partitions': 1, ...options.properties } });
  return {
    host: odradek.host,
    port: odradek.port,
    bootstrap: odradek.bootstrap,
    odradek,
    close: () => odradek.close(),
  };
}

/** A name that no earlier run has used, since a broker of somebody else's keeps its topics. */
export function uniqueName(stem: string): string {
  return `${stem}-${randomBytes(4).toString('hex')}`;
}
