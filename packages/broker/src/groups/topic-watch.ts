// Which topics have come and gone, as the group coordinator must know: offsets go with their topics, and expressions match new ones.

import { zeroUuid } from '@odradek/protocol';
import type { MetadataCache, TopicMetadata } from '../metadata/metadata-cache.ts';

export interface TopicWatcher {
  topicsCreated(): void;
  /** By name, with their ids. */
  topicsDeleted(topics: ReadonlyMap<string, string>): unknown;
}

/** Returns how to stop. */
export function watchTopics(metadataCache: MetadataCache, watcher: TopicWatcher): () => void {
  return metadataCache.onUpdate((current, previous, touched) => {
    const gone = new Map<string, string>();
    let hasNew = false;
    for (const name of touched) {
      const before = previous.topic(name);
      const after = current.topic(name);
      if (isSame(before, after)) continue;
      if (before !== undefined) gone.set(name, before.id);
      if (after !== undefined) hasNew = true;
    }
    if (hasNew) watcher.topicsCreated();
    if (gone.size > 0) void watcher.topicsDeleted(gone);
  });
}

/** A topic of an older cluster gets its id while it is there, and a controller that knows no ids tells none. */
function isSame(before: TopicMetadata | undefined, after: TopicMetadata | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  return before.id === after.id || before.id === zeroUuid || after.id === zeroUuid;
}
