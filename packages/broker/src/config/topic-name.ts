// Which names a topic may have.

const maxLength = 249;

/** What is wrong with the name, in the words Kafka's tools print; undefined when it is legal. */
export function topicNameProblem(name: string): string | undefined {
  if (name === '') return 'Topic name is invalid: the empty string is not allowed';
  if (name === '.' || name === '..') return `Topic name is invalid: '${name}' is not allowed`;
  if (name.length > maxLength) {
    return `Topic name is invalid: the length of '${name}' is longer than the max allowed length ${maxLength}`;
  }
  if (!/^[a-zA-Z0-9._-]+$/.test(name)) {
    return `Topic name is invalid: '${name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'`;
  }
  return undefined;
}
