// Timers: many deadlines, one platform timer. See timing-wheel.ts for how they are kept.

/** A deadline that has not passed yet. */
export interface TimerTask {
  /** Forgets the task; does nothing after it ran or was cancelled. */
  cancel(): void;
}

export interface Timer {
  /** Runs `action` once, no earlier than `delayMs` from now. A delay of 0 or less runs it in a later turn of the event loop. */
  schedule(delayMs: number, action: () => void): TimerTask;
  /** Runs `action` once, after the input that has already arrived has been handled (the check phase of this turn). */
  afterThisTurn(action: () => void): void;
  /** Forgets every task. Nothing runs afterwards. */
  close(): void;
}
