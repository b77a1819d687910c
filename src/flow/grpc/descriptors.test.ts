/** Compares the descriptors with those of protoc, where it is installed. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { findProgram } from '../../../test/support/start-services.ts';
import { BYTES, createReader, readFields, tagOf } from '../proto/wire.ts';
import { findFile, findFileOfSymbol } from './descriptors.ts';
import { SERVICES } from './names.ts';
import { PROTO_FILES } from './proto-files.ts';

const protoc = findProgram('protoc');

/** The files of a FileDescriptorSet. */
function filesOf(bytes: Buffer): Buffer[] {
  const files: Buffer[] = [];
  readFields(
    createReader(bytes),
    bytes.length,
    files,
    {
      [tagOf(1, BYTES)]: (reader, all) => {
        all.push(Buffer.from(reader.bytes()));
      },
    },
    0,
  );
  return files;
}

it.skipIf(!protoc)('encodes the same descriptors as protoc', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-protoc-'));
  try {
    for (const [name, text] of Object.entries(PROTO_FILES)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    for (const name of Object.keys(PROTO_FILES)) {
      const out = path.join(folder, 'set');
      const { status, stderr } = spawnSync(protoc!, [`-I${folder}`, `--descriptor_set_out=${out}`, name], {
        cwd: folder,
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      expect(status).toBe(0);
      const [file] = filesOf(readFileSync(out));
      expect(Buffer.from(findFile(name)![0]!).toString('hex')).toBe(file!.toString('hex'));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('finds the file of a symbol and its imports', () => {
  expect(findFileOfSymbol('jina.JinaRPC')).toHaveLength(5);
  expect(findFileOfSymbol('jina.JinaRPC.Call')).toEqual(findFile('jina.proto'));
  expect(findFileOfSymbol('docarray.DocumentProto.chunks')).toEqual(findFile('docarray.proto'));
  expect(findFileOfSymbol('jina.Nothing')).toBeUndefined();
  expect(findFile('nothing.proto')).toBeUndefined();
});

it.each(Object.values(SERVICES))('knows %s', (service) => {
  expect(findFileOfSymbol(service)).toBeDefined();
});
