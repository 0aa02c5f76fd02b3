// What a topic may be called: it becomes the name of folders.

/** Room for `-` and a partition number in a file name of 255 bytes. */
const maxLength = 249;

/** What is wrong with the name; undefined when nothing is. */
export function topicNameProblem(name: string): string | undefined {
  if (name === '') return 'A topic must have a name';
  if (name === '.' || name === '..') return 'A topic cannot be called "." or ".."';
  if (name.length > maxLength) return `The topic's name is longer than ${maxLength} characters`;
  if (!/^[a-zA-Z0-9._-]+$/.test(name))
    return `The topic's name ${JSON.stringify(name)} has characters other than ASCII letters, digits, '.', '_' and '-'`;
  return undefined;
}
