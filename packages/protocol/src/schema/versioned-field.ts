// The fields of a definition as one version has them.

import { codecSupport } from './codec-support.ts';
import type { Field, Fields } from './define.ts';
import { parseVersions, versionsContain } from './versions.ts';

export interface VersionedField {
  readonly name: string;
  /** The variable that holds it in a read function. */
  readonly variable: string;
  /** The path of field names from the message down, which names the functions of a struct: `TopicsPartitions`. */
  readonly path: string;
  readonly field: Field;
  readonly isPresent: boolean;
  readonly isTagged: boolean;
  readonly isNullable: boolean;
  /** Whether its length has the compact form. */
  readonly isCompact: boolean;
}

/** What a variable of the generated code cannot be called: its own names, and words of the language that could well name a field. */
const takenNames = new Set([
  ...Object.keys(codecSupport),
  ...'reader writer message support class default delete enum export function import in interface new package private public static'.split(
    ' ',
  ),
]);

export function fieldsInVersion(path: string, fields: Fields, version: number, isFlexible: boolean): VersionedField[] {
  const isWithin = (versions: string | undefined): boolean =>
    versions === undefined || versionsContain(parseVersions(versions), version);
  return Object.entries(fields).map(([name, field]) => {
    const isPresent = isWithin(field.versions ?? field.taggedVersions);
    return {
      name: identifier(name),
      variable: takenNames.has(name) ? `${name}_` : name,
      path: path + name.charAt(0).toUpperCase() + name.slice(1),
      field,
      isPresent,
      isTagged: isPresent && field.tag !== undefined && isWithin(field.taggedVersions ?? field.versions),
      isNullable: field.nullable !== undefined && isWithin(field.nullable),
      isCompact: isFlexible && field.flexible !== 'none',
    };
  });
}

export function inTagOrder(fields: readonly VersionedField[]): VersionedField[] {
  return fields.filter(({ isTagged }) => isTagged).sort((a, b) => (a.field.tag ?? 0) - (b.field.tag ?? 0));
}

export function elementOf(array: Field): Field {
  if (array.element === undefined || array.element.kind === 'array') throw new Error('An array holds anything but arrays');
  return array.element;
}

/** The fewest bytes that an element can take: what bounds the number of elements that the bytes left can hold. */
export function smallestElement(element: Field, version: number, isFlexible: boolean): number {
  return smallestSize(element, version, isFlexible, isFlexible);
}

function smallestSize(field: Field, version: number, isFlexible: boolean, isCompact: boolean): number {
  switch (field.kind) {
    case 'bool':
    case 'int8':
      return 1;
    case 'int16':
    case 'uint16':
      return 2;
    case 'int32':
    case 'uint32':
      return 4;
    case 'uuid':
      return 16;
    case 'string':
      return isCompact ? 1 : 2;
    case 'bytes':
    case 'records':
    case 'array':
      return isCompact ? 1 : 4;
    case 'struct': {
      let size = isFlexible ? 1 : 0;
      for (const inner of fieldsInVersion('', field.fields ?? {}, version, isFlexible)) {
        if (!inner.isPresent || inner.isTagged) continue;
        const isNullableStruct = inner.field.kind === 'struct' && inner.isNullable;
        size += isNullableStruct ? 1 : smallestSize(inner.field, version, isFlexible, inner.isCompact);
      }
      return size;
    }
    default:
      return 8;
  }
}

/** Only such names get into code. */
export function identifier(name: string): string {
  if (!/^[A-Za-z][A-Za-z0-9]*$/.test(name)) throw new Error(`"${name}" cannot name a message or a field`);
  return name;
}
