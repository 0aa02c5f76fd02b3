// Who may do what with a node: the access lists that Kafka 3.9 gives to the nodes that it creates.

export interface AccessControl {
  /** Bits: 1 read, 2 write, 4 create children, 8 delete children, 16 administer. */
  readonly permissions: number;
  readonly scheme: string;
  readonly id: string;
}

const read = 1;
const all = 31;

const anyoneMayDoAll: readonly AccessControl[] = [{ permissions: all, scheme: 'world', id: 'anyone' }];
/** `auth` is whoever creates the node, by every name that the connection has proved. */
const creatorMayDoAll: readonly AccessControl[] = [{ permissions: all, scheme: 'auth', id: '' }];
const anyoneMayRead: readonly AccessControl[] = [{ permissions: read, scheme: 'world', id: 'anyone' }];
const creatorMayDoAllAnyoneRead = [...creatorMayDoAll, ...anyoneMayRead];

/** Below these lie password verifiers and secrets. */
const sensitivePaths = ['/config/users', '/config/brokers', '/delegation_token/tokens'];

/** `secure` is zookeeper.set.acl. Old consumers, who may be anyone, write below /consumers. */
export function accessListOf(path: string, secure: boolean): readonly AccessControl[] {
  if (!secure || path === '/consumers') return anyoneMayDoAll;
  return sensitivePaths.some((sensitive) => path.startsWith(sensitive)) ? creatorMayDoAll : creatorMayDoAllAnyoneRead;
}
