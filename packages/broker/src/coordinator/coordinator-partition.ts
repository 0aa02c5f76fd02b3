// Which partition of its internal topic a group id or a transactional id belongs to. Every client and broker must agree on it.

/** Java's String.hashCode: s[0]·31^(n-1) + … + s[n-1] over UTF-16 code units, in 32 bits. */
export function javaHashCode(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
  return hash;
}

/** Kafka's own absolute value: that of the smallest int32, which has none, is 0. */
export function coordinatorPartition(id: string, partitionCount: number): number {
  const hash = javaHashCode(id);
  return (hash === -0x80000000 ? 0 : Math.abs(hash)) % partitionCount;
}
