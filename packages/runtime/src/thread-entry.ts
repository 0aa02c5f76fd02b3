// The first module of every background thread. It lets the other threads of the machine go first before anything else is loaded, since
// that already takes longer than a request.

import { setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';

const lowPriority = 10;

if (process.platform === 'linux') {
  try {
    // On Linux a priority belongs to the thread that sets it.
    setPriority(0, lowPriority);
  } catch {
    // A sandbox may forbid it; then the thread competes like any other.
  }
}
await import(String(workerData));
