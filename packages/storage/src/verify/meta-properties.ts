// meta.properties of a log directory: whose it is.

import { type FileSystem, parseProperties } from '@odradek/runtime';
import { metaPropertiesFile } from '../manager/log-directory.ts';
import type { Report } from './findings.ts';

export interface DirectoryOwner {
  readonly path: string;
  readonly brokerId: string | undefined;
  readonly clusterId: string | undefined;
  readonly directoryId: string | undefined;
}

/** undefined where it cannot be told, which is reported. */
export function readDirectoryOwner(fileSystem: FileSystem, directory: string, report: Report): DirectoryOwner | undefined {
  const path = `${directory}/${metaPropertiesFile}`;
  const say = (detail: string): void => report('meta-properties', path, undefined, detail, false);
  if (fileSystem.statSync(path) === undefined) {
    say('is not there');
    return undefined;
  }
  const properties = parseProperties(fileSystem.readFileSync(path).toString('utf8'));
  const version = properties.get('version');
  const brokerId = properties.get('broker.id') ?? properties.get('node.id');
  const clusterId = properties.get('cluster.id');
  if (version !== '0' && version !== '1') say(`has the version ${version ?? 'of nothing'}, but should have 0 or 1`);
  if (brokerId === undefined || !/^-?\d+$/.test(brokerId)) say(`names the broker ${brokerId ?? 'not at all'}`);
  if (clusterId === undefined || clusterId === '') say('names no cluster');
  return { path, brokerId, clusterId, directoryId: properties.get('directory.id') };
}
