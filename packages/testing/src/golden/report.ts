// Counts what a golden check found, and prints no more failures than a person reads.

const printedFailures = 40;
const printedDetail = 600;

export class GoldenReport {
  readonly #print: (line: string) => void;
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  get failed(): number {
    return this.#failed;
  }

  pass(): void {
    this.#passed += 1;
  }

  skip(): void {
    this.#skipped += 1;
  }

  /** `what` was checked, and `why` it is wrong. */
  fail(what: string, why: string): void {
    this.#failed += 1;
    if (this.#failed <= printedFailures)
      this.#print(`FAILED ${what}: ${why.length > printedDetail ? `${why.slice(0, printedDetail)}…` : why}`);
    else if (this.#failed === printedFailures + 1) this.#print('… more failures follow');
  }

  /** Runs one check: what it throws is its failure. */
  check(what: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.fail(what, error instanceof Error ? error.message : String(error));
      return;
    }
    this.pass();
  }

  /** The same for a check that takes its time. */
  async checkLater(what: string, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.fail(what, error instanceof Error ? error.message : String(error));
      return;
    }
    this.pass();
  }

  /** "N passed, N failed", and how many were skipped if any were. */
  summary(): string {
    const skipped = this.#skipped > 0 ? `, ${this.#skipped} skipped` : '';
    return `${this.#passed} passed, ${this.#failed} failed${skipped}`;
  }
}
