// What an error says about the disk.

/**
 * What passes by itself: the disk is full, or the process may open no more files. What could not be done is refused, and all that is
 * there stays usable.
 */
export function isPassingFault(error: unknown): boolean {
  return isDiskFull(error) || isOutOfFiles(error);
}

export function isDiskFull(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** So many files and connections are open that there may be no more, in this process or on the whole machine. */
export function isOutOfFiles(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'EMFILE' || code === 'ENFILE';
}

/** A fault after which the disk is not to be used any more. Errors that no system call gave are bugs, and no fault of the disk. */
export function isDiskFault(error: unknown): boolean {
  return systemCodeOf(error) !== undefined && !isPassingFault(error);
}

function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}
