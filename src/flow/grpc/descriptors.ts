/** Encodes the protocol's .proto files as descriptors (descriptor.proto), for reflection. Computed on first use. */
import { ownValue } from '#own-value.ts';
import { BYTES, createWriter, openNested, tagOf, VARINT, type Writer, writeText, writeUint } from '../proto/wire.ts';
import { PROTO_FILES } from './proto-files.ts';

interface Field {
  readonly label: '' | 'optional' | 'repeated';
  readonly type: string;
  readonly name: string;
  readonly number: number;
  readonly oneof: string | undefined;
}

/** A message, enum or service and its contents. */
interface Block {
  readonly kind: 'message' | 'enum' | 'service';
  readonly name: string;
  readonly blocks: Block[];
  readonly fields: Field[];
  readonly oneofs: string[];
  readonly values: { readonly name: string; readonly number: number }[];
  readonly methods: Rpc[];
  readonly isMapEntry: boolean;
}

interface Rpc {
  readonly name: string;
  readonly input: string;
  readonly output: string;
  readonly streamsIn: boolean;
  readonly streamsOut: boolean;
}

interface File {
  readonly name: string;
  readonly scope: string;
  readonly imports: readonly string[];
  readonly blocks: readonly Block[];
}

const createBlock = (kind: Block['kind'], name: string, isMapEntry = false): Block => ({
  kind,
  name,
  blocks: [],
  fields: [],
  oneofs: [],
  values: [],
  methods: [],
  isMapEntry,
});

const OPENING = /^(message|enum|service|oneof) (\w+) \{$/;
const MAP = /^map<(\w+), ([\w.]+)> (\w+) = (\d+);$/;
const FIELD = /^(?:(optional|repeated) )?([\w.]+) (\w+) = (\d+);$/;
const VALUE = /^(\w+) = (\d+);$/;
const RPC = /^rpc (\w+) \((stream )?([\w.]+)\) returns \((stream )?([\w.]+)\);$/;

const camel = (name: string): string => name.replaceAll(/_+([a-z0-9]?)/g, (_, next: string) => next.toUpperCase());
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function readMap(line: string, into: Block): boolean {
  const [, key, type, name, number] = MAP.exec(line) ?? [];
  if (!name) return false;
  const entry = createBlock('message', `${capital(camel(name))}Entry`, true);
  entry.fields.push({ label: '', type: key!, name: 'key', number: 1, oneof: undefined });
  entry.fields.push({ label: '', type: type!, name: 'value', number: 2, oneof: undefined });
  into.blocks.push(entry);
  into.fields.push({ label: 'repeated', type: entry.name, name, number: Number(number), oneof: undefined });
  return true;
}

function readMember(line: string, into: Block, oneof: string | undefined): void {
  if (into.kind === 'service') {
    const [, name, streamsIn, input, streamsOut, output] = RPC.exec(line)!;
    into.methods.push({
      name: name!,
      input: input!,
      output: output!,
      streamsIn: streamsIn !== undefined,
      streamsOut: streamsOut !== undefined,
    });
  } else if (into.kind === 'enum') {
    const [, name, number] = VALUE.exec(line)!;
    into.values.push({ name: name!, number: Number(number) });
  } else if (!readMap(line, into)) {
    const [, label = '', type, name, number] = FIELD.exec(line)!;
    into.fields.push({ label: label as Field['label'], type: type!, name: name!, number: Number(number), oneof });
  }
}

function readFile(name: string, text: string): File {
  const lines = text.split('\n').map((line) => line.trim());
  const imports = lines.flatMap((line) => /^import "(.+)";$/.exec(line)?.[1] ?? []);
  const scope = lines.flatMap((line) => /^package (.+);$/.exec(line)?.[1] ?? [])[0]!;
  const top = createBlock('message', '');
  const open: Block[] = [top];
  let oneof: string | undefined;
  for (const line of lines) {
    if (line === '' || /^(?:syntax|package|import) /.test(line)) continue;
    const innermost = open.at(-1)!;
    const [, kind, blockName] = OPENING.exec(line) ?? [];
    if (kind === 'oneof') {
      oneof = blockName!;
      innermost.oneofs.push(oneof);
    } else if (kind) {
      const block = createBlock(kind as Block['kind'], blockName!);
      innermost.blocks.push(block);
      open.push(block);
    } else if (line === '}') {
      if (oneof) oneof = undefined;
      else open.pop();
    } else {
      readMember(line, innermost, oneof);
    }
  }
  return { name, scope, imports, blocks: top.blocks };
}

const SCALARS: Readonly<Record<string, number>> = {
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  bool: 8,
  string: 9,
  bytes: 12,
  uint32: 13,
};
const MESSAGE_TYPE = 11;
const ENUM_TYPE = 14;
const LABELS = { '': 1, optional: 1, repeated: 3 } as const;

/** Kinds of all types by full name, and the file of each symbol. */
interface Index {
  readonly kinds: ReadonlyMap<string, Block['kind']>;
  readonly files: ReadonlyMap<string, string>;
}

function indexOf(files: readonly File[]): Index {
  const kinds = new Map<string, Block['kind']>();
  const places = new Map<string, string>();
  const add = (block: Block, scope: string, file: string): void => {
    const name = `${scope}.${block.name}`;
    kinds.set(name, block.kind);
    places.set(name, file);
    for (const one of [...block.fields, ...block.methods]) places.set(`${name}.${one.name}`, file);
    for (const inner of block.blocks) add(inner, name, file);
  };
  for (const { name, scope, blocks } of files) for (const block of blocks) add(block, scope, name);
  return { kinds, files: places };
}

/** Resolves a type name from the innermost scope outwards. */
function resolve(type: string, scope: string, { kinds }: Index): string {
  for (let at = scope; ; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const name = at ? `${at}.${type}` : type;
    if (kinds.has(name)) return name;
    if (!at) throw new Error(`there is no type ${type}`);
  }
}

/** proto3 represents each `optional` field as a synthetic oneof, after the declared ones. */
const oneofsOf = ({ oneofs, fields }: Block): string[] => [
  ...oneofs,
  ...fields.filter(({ label }) => label === 'optional').map(({ name }) => `_${name}`),
];

function writeField(writer: Writer, field: Field, scope: string, oneofs: readonly string[], index: Index): void {
  openNested(writer, 2);
  writeText(writer, 1, field.name);
  writeUint(writer, 3, field.number);
  writeUint(writer, 4, LABELS[field.label]);
  const scalar = ownValue(SCALARS, field.type);
  if (scalar) {
    writeUint(writer, 5, scalar);
  } else {
    const name = resolve(field.type, scope, index);
    writeUint(writer, 5, index.kinds.get(name) === 'enum' ? ENUM_TYPE : MESSAGE_TYPE);
    writeText(writer, 6, `.${name}`);
  }
  const oneof = field.label === 'optional' ? `_${field.name}` : field.oneof;
  if (oneof !== undefined) writer.uint32(tagOf(9, VARINT)).uint32(oneofs.indexOf(oneof));
  writeText(writer, 10, camel(field.name));
  if (field.label === 'optional') writer.uint32(tagOf(17, VARINT)).bool(true);
  writer.ldelim();
}

function writeEnum(writer: Writer, number: number, { name, values }: Block): void {
  openNested(writer, number);
  writeText(writer, 1, name);
  for (const value of values) {
    openNested(writer, 2);
    writeText(writer, 1, value.name);
    writer.uint32(tagOf(2, VARINT)).int32(value.number);
    writer.ldelim();
  }
  writer.ldelim();
}

function writeMessage(writer: Writer, number: number, block: Block, outer: string, index: Index): void {
  const scope = `${outer}.${block.name}`;
  const oneofs = oneofsOf(block);
  openNested(writer, number);
  writeText(writer, 1, block.name);
  for (const field of block.fields) writeField(writer, field, scope, oneofs, index);
  for (const inner of block.blocks) if (inner.kind === 'message') writeMessage(writer, 3, inner, scope, index);
  for (const inner of block.blocks) if (inner.kind === 'enum') writeEnum(writer, 4, inner);
  if (block.isMapEntry) {
    openNested(writer, 7).uint32(tagOf(7, VARINT)).bool(true);
    writer.ldelim();
  }
  for (const oneof of oneofs) {
    openNested(writer, 8);
    writeText(writer, 1, oneof);
    writer.ldelim();
  }
  writer.ldelim();
}

function writeService(writer: Writer, { name, methods }: Block, scope: string, index: Index): void {
  openNested(writer, 6);
  writeText(writer, 1, name);
  for (const method of methods) {
    openNested(writer, 2);
    writeText(writer, 1, method.name);
    writeText(writer, 2, `.${resolve(method.input, scope, index)}`);
    writeText(writer, 3, `.${resolve(method.output, scope, index)}`);
    if (method.streamsIn) writer.uint32(tagOf(5, VARINT)).bool(true);
    if (method.streamsOut) writer.uint32(tagOf(6, VARINT)).bool(true);
    writer.ldelim();
  }
  writer.ldelim();
}

function encodeFile({ name, scope, imports, blocks }: File, index: Index): Uint8Array {
  const writer = createWriter();
  writeText(writer, 1, name);
  writeText(writer, 2, scope);
  for (const one of imports) writer.uint32(tagOf(3, BYTES)).string(one);
  for (const block of blocks) if (block.kind === 'message') writeMessage(writer, 4, block, scope, index);
  for (const block of blocks) if (block.kind === 'enum') writeEnum(writer, 5, block);
  for (const block of blocks) if (block.kind === 'service') writeService(writer, block, scope, index);
  writeText(writer, 12, 'proto3');
  return writer.finish();
}

interface Described {
  readonly bytes: Uint8Array;
  readonly imports: readonly string[];
}

interface Catalogue {
  readonly files: ReadonlyMap<string, Described>;
  readonly symbols: ReadonlyMap<string, string>;
}

let known: Catalogue | undefined;

function loadCatalogue(): Catalogue {
  if (known) return known;
  const files = Object.entries(PROTO_FILES).map(([name, text]) => readFile(name, text));
  const index = indexOf(files);
  known = {
    files: new Map(files.map((file) => [file.name, { bytes: encodeFile(file, index), imports: file.imports }])),
    symbols: index.files,
  };
  return known;
}

/** A file followed by its transitive imports; `undefined` if there is no such file. */
export function findFile(name: string): Uint8Array[] | undefined {
  const { files } = loadCatalogue();
  if (!files.has(name)) return undefined;
  const found = new Set([name]);
  // Iterating a Set also visits items that are added during the iteration.
  for (const one of found) for (const imported of files.get(one)!.imports) found.add(imported);
  return [...found].map((one) => files.get(one)!.bytes);
}

/** The file that declares a type, field, service or method, followed by its transitive imports. */
export function findFileOfSymbol(symbol: string): Uint8Array[] | undefined {
  const file = loadCatalogue().symbols.get(symbol);
  return file === undefined ? undefined : findFile(file);
}
