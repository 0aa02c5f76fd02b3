// Who may do what with the nodes of a ZooKeeper, as its superuser reads it over a connection of its own: brokers never ask for that.
//
//   a request    size int | xid int | opcode int | body
//   its answer   size int | xid int | zxid long | error int | body

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { JuteReader, JuteWriter } from '@odradek/coordination';
import { FrameCutter, frame } from '@odradek/protocol';

const superuser = 'super:everything';
const superDigest = createHash('sha1').update(superuser).digest('base64');

/** For the server's virtual machine: whom it lets do everything. */
export const superuserArgument = `-Dzookeeper.DigestAuthenticationProvider.superDigest=super:${superDigest}`;

const opcodes = { accessList: 6, children: 8, auth: 100, close: -11 } as const;
const authXid = -4;

/** Of each node at and below `root` its path as seen from there, and its list: `scheme:id:permissions`, sorted. */
export async function readAccessLists(
  server: { readonly host: string; readonly port: number },
  root: string,
): Promise<Map<string, string>> {
  const socket = connect(server.port, server.host);
  try {
    await once(socket, 'connect');
    const connection = new SuperuserConnection(socket);
    await connection.begin();
    const lists = new Map<string, string>();
    const look = async (path: string): Promise<void> => {
      lists.set(path.slice(root.length) || '/', await connection.accessList(path));
      for (const name of (await connection.children(path)).sort()) await look(`${path}/${name}`);
    };
    await look(root);
    await connection.ask(opcodes.close);
    return lists;
  } finally {
    socket.destroy();
  }
}

class SuperuserConnection {
  readonly #socket: Socket;
  readonly #cutter = new FrameCutter(1024 * 1024);
  #xid = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** A new session, in the superuser's name. */
  async begin(): Promise<void> {
    const timeoutMs = 10_000;
    const greeting = new JuteWriter().int(0).long(0n).int(timeoutMs).long(0n).buffer(Buffer.alloc(16)).boolean(false);
    await this.#exchange(greeting.finish());
    const auth = new JuteWriter().int(0).string('digest').buffer(Buffer.from(superuser));
    await this.ask(opcodes.auth, auth.finish(), authXid);
  }

  async accessList(path: string): Promise<string> {
    const answer = await this.ask(opcodes.accessList, new JuteWriter().string(path).finish());
    const entries = answer.vector(() => {
      const permissions = answer.int();
      return `${answer.string()}:${answer.string()}:${permissions}`;
    });
    return entries.sort().join(' ');
  }

  async children(path: string): Promise<string[]> {
    const answer = await this.ask(opcodes.children, new JuteWriter().string(path).boolean(false).finish());
    return answer.vector(() => answer.string());
  }

  async ask(opcode: number, body: Buffer = Buffer.alloc(0), xid = ++this.#xid): Promise<JuteReader> {
    const head = new JuteWriter().int(xid).int(opcode).finish();
    const answer = new JuteReader(await this.#exchange(Buffer.concat([head, body])));
    answer.int();
    answer.long();
    const error = answer.int();
    if (error !== 0) throw new Error(`ZooKeeper answers ${error} to opcode ${opcode}`);
    return answer;
  }

  async #exchange(request: Buffer): Promise<Buffer> {
    this.#socket.cork();
    for (const chunk of frame([request])) this.#socket.write(chunk);
    this.#socket.uncork();
    for (;;) {
      const answer = this.#cutter.next();
      if (answer !== null) return answer;
      const [chunk] = (await once(this.#socket, 'data')) as [Buffer];
      this.#cutter.add(chunk);
    }
  }
}
