// What an error says about the disk.

/** A full disk is the one fault that passes by itself: what could not be written is refused, and all that is there stays usable. */
export function isDiskFull(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** A fault after which the disk is not to be used any more. Errors that no system call gave are bugs, and no fault of the disk. */
export function isDiskFault(error: unknown): boolean {
  return systemCodeOf(error) !== undefined && !isDiskFull(error);
}

function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}
