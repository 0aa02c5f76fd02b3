/** The bytes do not follow the format of what they are said to be. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}
