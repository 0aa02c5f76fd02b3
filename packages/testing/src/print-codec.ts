// npm run codec -- fetch-request 12: prints the code that reads and writes a message in a version, as it is compiled.

import * as protocol from '@odradek/protocol';

const definitions = new Map<string, protocol.MessageDefinition>();
for (const value of Object.values<unknown>(protocol)) {
  if (protocol.isMessageDefinition(value)) definitions.set(protocol.codecName(value), value);
}

const [name, version, mode] = process.argv.slice(2);
const definition = definitions.get(name ?? '');
if (definition === undefined || version === undefined) {
  console.error('usage: npm run codec -- MESSAGE VERSION [exact], as in: npm run codec -- fetch-request 12');
  if (name !== undefined && definition === undefined) {
    const similar = [...definitions.keys()].filter((known) => known.includes(name));
    console.error(similar.length > 0 ? `There is no message ${name}, but ${similar.join(', ')}` : `There is no message ${name}`);
  }
  process.exitCode = 2;
} else if (!protocol.versionsContain(definition.versions, Number(version))) {
  console.error(`${definition.name} has the versions ${definition.versions.min} to ${definition.versions.max}`);
  process.exitCode = 2;
} else {
  process.stdout.write(protocol.codecSource(definition, Number(version), mode === 'exact' ? 'exact' : 'ordinary'));
}
