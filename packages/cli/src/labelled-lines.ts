// The log of several brokers on one output: every line says whose it is.

/** Text, whole lines, as it is to be printed: `broker 1 | …`, or a field of a JSON object. */
export function labelled(brokerId: number, text: string): string {
  return text.replace(/^(\{(?="))?(?=.)/gm, (_, brace: string | undefined) =>
    brace === undefined ? `broker ${brokerId} | ` : `{"node":${brokerId},`,
  );
}

/** Cuts what comes in pieces into whole lines. */
export class LineCutter {
  #rest = '';

  /** What is whole now, line ends included. */
  take(piece: string): string {
    const text = this.#rest + piece;
    const end = text.lastIndexOf('\n') + 1;
    this.#rest = text.slice(end);
    return text.slice(0, end);
  }
}
