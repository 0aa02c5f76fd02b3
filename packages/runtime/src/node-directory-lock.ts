// The lock on a data directory: a POSIX record lock over the file `.lock`, which the system drops when the process dies.
//
// Apache Kafka locks the same file with Java's FileChannel.tryLock, a record lock over all of it. Node has no call for record
// locks, but SQLite takes them: a connection with an exclusive transaction holds write locks on the bytes from 0x40000000 on,
//
//     0                         0x40000000      +512                                2^63 - 1
//     |  Java: .................XXXXXXXXXXXXXXXX|..................................XXXX  one lock over everything
//     |  SQLite:                XXXXXXXXXXXXXXXX|                                        pending, reserved and shared bytes
//
// so each excludes the other, and the file stays empty: nothing is ever written in that transaction, and the journal is kept in
// memory. A process does not exclude itself with record locks, hence the set of paths; between its threads SQLite sees to that. And it loses its locks on a file as soon
// as it closes any descriptor of that file: nothing else may open a `.lock`.

import { accessSync, closeSync, constants, existsSync, openSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { DirectoryInUseError, type DirectoryLock } from './file-system.ts';

const held = new Set<string>();

/** SQLite's code for a lock that someone else holds. */
const sqliteBusy = 5;

/** The longest path of a file that SQLite opens: MAX_PATHNAME of its layer for Unix, less the names that it appends (`-journal`). */
const sqlitePathBytes = 500;

export function lockDirectory(directory: string): DirectoryLock {
  const path = join(realpathSync(directory), '.lock');
  if (held.has(path)) {
    throw alreadyLocked(directory);
  }
  // Fails as Node's other calls do (EACCES, EROFS, …) where SQLite would have its own words for it. A file that is there is not opened: to
  // close it would take away the lock that another thread of this process holds, and which only SQLite knows of.
  if (existsSync(path)) accessSync(path, constants.W_OK);
  else closeSync(openSync(path, 'a'));
  // Loaded here and not by an import: a program that locks nothing need not load SQLite.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const database = new DatabaseSync(path, { timeout: 0, open: false });
  try {
    database.open();
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    if (database.isOpen) database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) {
      throw alreadyLocked(directory, error);
    }
    const isTooLong = Buffer.byteLength(path) > sqlitePathBytes;
    const reason = isTooLong
      ? `its path has more than ${sqlitePathBytes - '/.lock'.length} bytes`
      : error instanceof Error
        ? error.message
        : String(error);
    throw new Error(`Cannot lock the directory ${directory}: ${reason}`, { cause: error });
  }
  held.add(path);
  let isHeld = true;
  return {
    release: () => {
      if (isHeld) {
        isHeld = false;
        held.delete(path);
        database.close();
      }
    },
  };
}

function alreadyLocked(directory: string, cause?: Error): Error {
  const message = `The directory ${directory} is locked: another broker (Odradek or Apache Kafka) is using it`;
  return new DirectoryInUseError(message, cause && { cause });
}
