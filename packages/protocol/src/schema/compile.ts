// Turns a definition and a version into straight-line functions that read and write it. This is the only place that makes code from
// text; the text consists of names that were checked against a pattern, of numbers and of the strings below. What comes from the
// network never reaches it. `npm run codec -- fetch-request 12` prints what comes out.
//
// Two modes. In the ordinary one an int64 is a number and unknown tagged fields are skipped. In the exact one an int64 is a bigint and
// unknown tagged fields are kept as `unknownTaggedFields`, so that any message can be written again to the very same bytes.
//
// What the code holds to, as Kafka's own generated classes do:
//   - a decoded object has all fields of the definition, in its order, whatever the version, so that all versions have one shape;
//   - a value that the version cannot carry fails when it is not the default, unless its field is ignorable;
//   - a tagged field is written only when it is not the default, in the order of the tags.

import type { Reader } from '../wire/reader.ts';
import { zeroUuid } from '../wire/uuid.ts';
import type { Writer } from '../wire/writer.ts';
import { codecSupport } from './codec-support.ts';
import type { Field, Fields, MessageDefinition } from './define.ts';
import { elementOf, fieldsInVersion, identifier, inTagOrder, smallestElement, type VersionedField } from './versioned-field.ts';
import { versionsContain } from './versions.ts';

export type CodecMode = 'ordinary' | 'exact';

export interface CompiledCodec {
  read(reader: Reader): unknown;
  write(writer: Writer, message: unknown): void;
}

export function compile(definition: MessageDefinition, version: number, mode: CodecMode): CompiledCodec {
  const source = codecSource(definition, version, mode);
  return new Function('support', source)(codecSupport) as CompiledCodec;
}

/** The source of the two functions of a message in a version, as the body of a function that returns them. */
export function codecSource(definition: MessageDefinition, version: number, mode: CodecMode): string {
  const functions = new StructCompiler(definition, version, mode).compile();
  return [
    `'use strict';`,
    `const { ${Object.keys(codecSupport).join(', ')} } = support;`,
    '',
    functions,
    'return { read, write };',
    `//# sourceURL=codec/${codecName(definition)}-v${version}${mode === 'exact' ? '-exact' : ''}.js`,
    '',
  ].join('\n');
}

/** `FetchRequest` is `fetch-request` where files and commands name it. */
export function codecName(definition: MessageDefinition): string {
  return identifier(definition.name)
    .replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3-$2')
    .toLowerCase();
}

class StructCompiler {
  readonly #definition: MessageDefinition;
  readonly #version: number;
  readonly #isExact: boolean;
  readonly #isFlexible: boolean;
  readonly #functions: string[] = [];

  constructor(definition: MessageDefinition, version: number, mode: CodecMode) {
    this.#definition = definition;
    this.#version = version;
    this.#isExact = mode === 'exact';
    this.#isFlexible = versionsContain(definition.flexible, version);
  }

  compile(): string {
    this.#compileStruct('', this.#definition.fields);
    return this.#functions.join('\n');
  }

  /** Emits the functions of the structs inside, then its own, so that a reader of the code meets what is used before its use. */
  #compileStruct(path: string, fields: Fields): void {
    const versioned = this.#fieldsOf(path, fields);
    for (const entry of versioned) {
      const inner = entry.field.fields ?? entry.field.element?.fields;
      if (inner === undefined) continue;
      if (entry.isPresent) this.#compileStruct(entry.path, inner);
      const needsDefault = entry.field.fields !== undefined && (entry.field.default !== null || !entry.isNullable);
      if (needsDefault) this.#compileDefault(entry.path, inner, !entry.isPresent);
    }
    this.#functions.push(this.#readFunction(path, versioned), this.#writeFunction(path, versioned));
  }

  #fieldsOf(path: string, fields: Fields): VersionedField[] {
    return fieldsInVersion(path, fields, this.#version, this.#isFlexible);
  }

  // Reading

  #readFunction(path: string, fields: readonly VersionedField[]): string {
    const lines: string[] = [];
    const tagged = inTagOrder(fields);
    for (const entry of fields) {
      if (entry.isTagged) lines.push(`let ${entry.variable} = ${this.#defaultOf(entry.field, entry.path)};`);
      else if (entry.isPresent) lines.push(...this.#readField(entry, `const ${entry.variable} =`));
    }
    if (this.#isFlexible) lines.push(...this.#readTaggedFields(tagged));
    const properties = fields.map(({ name, variable, field, isPresent, path: fieldPath }) => {
      if (!isPresent) return `${name}: ${this.#defaultOf(field, fieldPath)}`;
      return name === variable ? name : `${name}: ${variable}`;
    });
    if (this.#isExact && this.#isFlexible) properties.push('unknownTaggedFields');
    lines.push(`return { ${properties.join(', ')} };`);
    return block(`function read${path}(reader)`, lines);
  }

  /** Statements that read one field and put it where `target` says: `const x =` or `x =`. */
  #readField(entry: VersionedField, target: string): string[] {
    const { name, path, field, isNullable, isCompact } = entry;
    if (field.kind !== 'array') {
      const value = this.#readValue(field, name, path, isNullable, isCompact);
      const isNull = entry.isTagged ? 'reader.int8() === 0' : 'reader.int8() < 0';
      return [`${target} ${field.kind === 'struct' && isNullable ? `${isNull} ? null : ${value}` : value};`];
    }
    const element = elementOf(field);
    const length = isCompact ? 'reader.compactLength()' : 'reader.int32()';
    const count = `$${name}Count`;
    const variable = target.replace('const ', '').replace(' =', '');
    return [
      `const ${count} = reader.${isNullable ? 'nullableCount' : 'count'}(${length}, ${smallestElement(element, this.#version, this.#isFlexible)}, '${name}');`,
      `${target} ${isNullable ? `${count} < 0 ? null : []` : '[]'};`,
      `for (let $index = 0; $index < ${count}; $index++) ${variable}.push(${this.#readValue(element, name, path, false, isCompact)});`,
    ];
  }

  #readValue(field: Field, name: string, path: string, isNullable: boolean, isCompact: boolean): string {
    switch (field.kind) {
      case 'struct':
        return `read${path}(reader)`;
      case 'string':
        return `reader.${isNullable ? 'nullableString' : 'string'}(${isCompact ? 'reader.compactLength()' : 'reader.int16()'}, '${name}')`;
      case 'bytes':
      case 'records':
        return `reader.${isNullable ? 'nullableBytes' : 'bytes'}(${isCompact ? 'reader.compactLength()' : 'reader.int32()'}, '${name}')`;
      case 'int64':
        return this.#isExact ? 'reader.int64Bits()' : 'reader.int64()';
      default:
        return `reader.${field.kind}()`;
    }
  }

  #readTaggedFields(tagged: readonly VersionedField[]): string[] {
    if (tagged.length === 0 && !this.#isExact) return ['reader.skipTaggedFields();'];
    const cases = tagged.flatMap((entry) => [
      `case ${entry.field.tag}: {`,
      ...indent([...this.#readField(entry, `${entry.variable} =`), 'break;']),
      '}',
    ]);
    const unknown = this.#isExact ? 'unknownTaggedFields.push({ tag: $tag, bytes: reader.bytes($size) });' : 'reader.skip($size);';
    return [
      ...(this.#isExact ? ['const unknownTaggedFields = [];'] : []),
      'for (let $left = reader.unsignedVarint(); $left > 0; $left--) {',
      ...indent([
        'const $tag = reader.unsignedVarint();',
        'const $size = reader.unsignedVarint();',
        'const $end = reader.endOf($size);',
        'switch ($tag) {',
        ...indent([...cases, `default: ${unknown}`]),
        '}',
        'reader.ensureAt($end);',
      ]),
      '}',
    ];
  }

  // Writing

  #writeFunction(path: string, fields: readonly VersionedField[]): string {
    const lines: string[] = [];
    for (const entry of fields) {
      const isLost = !entry.isPresent && entry.field.ignorable !== true;
      if (isLost)
        lines.push(
          `if (!${this.#isDefault(entry.field, `message.${entry.name}`, entry.path)}) unsupported('${this.#definition.name}', ${this.#version}, '${entry.name}');`,
        );
    }
    for (const entry of fields) {
      if (entry.isPresent && !entry.isTagged) lines.push(...this.#writeField(entry));
    }
    if (this.#isFlexible) lines.push(...this.#writeTaggedFields(inTagOrder(fields)));
    return block(`function write${path}(writer, message)`, lines);
  }

  #writeField(entry: VersionedField): string[] {
    const { name, path, field, isNullable, isCompact } = entry;
    const property = `message.${name}`;
    const fallback = this.#writtenDefault(entry);
    if (isScalar(field)) return [this.#writeValue(field, `${property} ?? ${fallback}`, path, isCompact)];
    const value = isNullable
      ? fallback === 'null'
        ? `${property} ?? null`
        : `${property} === undefined ? ${fallback} : ${property}`
      : `required(${property}, ${fallback}, '${name}')`;
    const statements =
      field.kind === 'array' ? this.#writeArray(field, path, isCompact) : [this.#writeValue(field, '$value', path, isCompact)];
    if (!isNullable) return ['{', ...indent([`const $value = ${value};`, ...statements]), '}'];
    const nullForm = this.#nullForm(entry);
    const notNull = field.kind === 'struct' ? ['writer.int8(1);', ...statements] : statements;
    return [
      '{',
      ...indent([`const $value = ${value};`, `if ($value === null) ${nullForm}`, 'else {', ...indent(notNull), '}']),
      '}',
    ];
  }

  /** A struct that may be null has a byte before it: 1, or for null -1, or 0 where the field is tagged. */
  #nullForm({ field, isTagged, isCompact }: VersionedField): string {
    if (field.kind === 'struct') return isTagged ? 'writer.int8(0);' : 'writer.int8(-1);';
    if (isCompact) return 'writer.unsignedVarint(0);';
    return field.kind === 'string' ? 'writer.int16(-1);' : 'writer.int32(-1);';
  }

  #writeArray(field: Field, path: string, isCompact: boolean): string[] {
    return [
      isCompact ? 'writer.unsignedVarint($value.length + 1);' : 'writer.int32($value.length);',
      `for (let $index = 0; $index < $value.length; $index++) ${this.#writeValue(elementOf(field), '$value[$index]', path, isCompact)}`,
    ];
  }

  #writeValue(field: Field, value: string, path: string, isCompact: boolean): string {
    switch (field.kind) {
      case 'struct':
        return `write${path}(writer, ${value});`;
      case 'string':
        return `writer.${isCompact ? 'compactString' : 'string'}(${value});`;
      case 'bytes':
        return `writer.${isCompact ? 'compactBytes' : 'bytes'}(${value});`;
      case 'records':
        return `writer.${isCompact ? 'compactRecords' : 'records'}(${value});`;
      case 'int64':
        return this.#isExact ? `writer.int64Bits(${value});` : `writer.int64(${value});`;
      default:
        return `writer.${field.kind}(${value});`;
    }
  }

  #writeTaggedFields(tagged: readonly VersionedField[]): string[] {
    if (tagged.length === 0 && !this.#isExact) return ['writer.unsignedVarint(0);'];
    const conditions = tagged.map(
      ({ name, field, path }) => `const $has${field.tag} = !${this.#isDefault(field, `message.${name}`, path)};`,
    );
    const count = tagged.map(({ field }) => `($has${field.tag} ? 1 : 0)`);
    const lines = [...conditions];
    if (this.#isExact) {
      lines.push('const $unknown = message.unknownTaggedFields ?? none;', 'let $written = 0;');
      count.push('$unknown.length');
    }
    lines.push(`writer.unsignedVarint(${count.join(' + ')});`);
    for (const entry of tagged) {
      const { tag } = entry.field;
      if (this.#isExact) lines.push(`$written = unknownTaggedFieldsBelow(${tag}, writer, $unknown, $written, $has${tag});`);
      const body = [`const $start = writer.openTagged(${tag});`, ...this.#writeField(entry), 'writer.closeTagged($start);'];
      lines.push(`if ($has${tag}) {`, ...indent(body), '}');
    }
    if (this.#isExact) lines.push('unknownTaggedFieldsBelow(Infinity, writer, $unknown, $written, false);');
    return lines;
  }

  // Defaults

  /**
   * Functions that make the default of a struct and recognise it. `isAlone`: the struct is absent from this version, so that nothing has
   * been compiled for the structs inside it either.
   */
  #compileDefault(path: string, fields: Fields, isAlone: boolean): void {
    const versioned = this.#fieldsOf(path, fields);
    for (const { field, path: inner } of versioned) {
      if (isAlone && field.fields !== undefined && field.default !== null) this.#compileDefault(inner, field.fields, true);
    }
    const properties = versioned.map((entry) => `${entry.name}: ${this.#defaultOf(entry.field, entry.path)}`);
    const conditions = versioned.map((entry) => this.#isDefault(entry.field, `message.${entry.name}`, entry.path));
    if (this.#isExact && this.#isFlexible) {
      properties.push('unknownTaggedFields: []');
      conditions.push('(message.unknownTaggedFields ?? none).length === 0');
    }
    this.#functions.push(
      block(`function default${path}()`, [`return { ${properties.join(', ')} };`]),
      block(`function isDefault${path}(message)`, [`return ${conditions.join(' && ')};`]),
    );
  }

  /** An expression for what a reader sees where the field is absent. */
  #defaultOf(field: Field, path: string): string {
    return field.default === null || (field.kind === 'records' && field.nullable !== undefined)
      ? 'null'
      : this.#notNullDefaultOf(field, path);
  }

  #notNullDefaultOf(field: Field, path: string): string {
    switch (field.kind) {
      case 'array':
        return '[]';
      case 'struct':
        return `default${path}()`;
      case 'bytes':
      case 'records':
        return 'emptyBuffer';
      case 'string':
        return JSON.stringify(field.default ?? '');
      case 'uuid':
        return JSON.stringify(field.default ?? zeroUuid);
      case 'bool':
        return String(field.default ?? false);
      case 'int64':
      case 'int64Bits': {
        const value = BigInt((field.default as number | bigint | undefined) ?? 0);
        if (this.#isExact || field.kind === 'int64Bits') return `${value}n`;
        return String(Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value))));
      }
      default:
        return String(Number(field.default ?? 0));
    }
  }

  /** What is written for undefined: the default, or the empty value where the default is null and this version does not know null. */
  #writtenDefault({ field, path, isNullable }: VersionedField): string {
    const isNull = isNullable && this.#defaultOf(field, path) === 'null';
    if (isNull) return 'null';
    return field.kind === 'array' ? 'none' : this.#notNullDefaultOf(field, path);
  }

  /** An expression that is true when the value is the default, or undefined, which stands for it. */
  #isDefault(field: Field, value: string, path: string): string {
    const byDefault = this.#defaultOf(field, path);
    if (byDefault === 'null') return `(${value} == null)`;
    const condition = (test: string): string => `(${value} === undefined || ${test})`;
    const isEmpty = field.nullable === undefined ? `${value}.length === 0` : `(${value} !== null && ${value}.length === 0)`;
    switch (field.kind) {
      case 'array':
      case 'bytes':
      case 'records':
        return condition(isEmpty);
      case 'struct':
        return condition(
          field.nullable === undefined ? `isDefault${path}(${value})` : `(${value} !== null && isDefault${path}(${value}))`,
        );
      default:
        return condition(`${value} === ${byDefault}`);
    }
  }
}

function isScalar(field: Field): boolean {
  return !['array', 'bytes', 'records', 'string', 'struct'].includes(field.kind);
}

function block(head: string, lines: readonly string[]): string {
  return [`${head} {`, ...indent(lines), '}', ''].join('\n');
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
