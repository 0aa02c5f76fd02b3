// A full disk is the one fault that passes by itself: what could not be written is refused, and all that is there stays usable.

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
