/** gRPC server reflection: lists services and returns their descriptors. */
import {
  BYTES,
  createReader,
  createWriter,
  type FieldReaders,
  openNested,
  readFields,
  tagOf,
  VARINT,
  type Writer,
  writeText,
} from '../proto/wire.ts';
import { findFile, findFileOfSymbol } from './descriptors.ts';
import { CODE, createRpcFailure } from './failures.ts';
import { type BidiStream, failStream, type Method } from './method.ts';
import { SERVICES } from './names.ts';

/** A reflection request; exactly one field is set. */
interface ReflectionRequest {
  file?: string;
  symbol?: string;
  extensionsOf?: string;
  extension?: boolean;
  services?: boolean;
}

const REQUEST: FieldReaders<ReflectionRequest> = {
  [tagOf(3, BYTES)]: (reader, question) => {
    question.file = reader.string();
  },
  [tagOf(4, BYTES)]: (reader, question) => {
    question.symbol = reader.string();
  },
  [tagOf(5, BYTES)]: (reader, question) => {
    reader.bytes();
    question.extension = true;
  },
  [tagOf(6, BYTES)]: (reader, question) => {
    question.extensionsOf = reader.string();
  },
  [tagOf(7, BYTES)]: (reader, question) => {
    reader.bytes();
    question.services = true;
  },
};

function writeServices(writer: Writer, services: readonly string[]): void {
  openNested(writer, 6);
  for (const service of services) {
    openNested(writer, 1);
    writeText(writer, 1, service);
    writer.ldelim();
  }
  writer.ldelim();
}

function writeFiles(writer: Writer, files: readonly Uint8Array[] | undefined): void {
  if (!files) {
    writeError(writer, CODE.notFound, 'Symbol or file not found');
    return;
  }
  openNested(writer, 4);
  for (const file of files) writer.uint32(tagOf(1, BYTES)).bytes(file);
  writer.ldelim();
}

function writeError(writer: Writer, code: number, message: string): void {
  openNested(writer, 7);
  writer.uint32(tagOf(1, VARINT)).int32(code);
  writeText(writer, 2, message);
  writer.ldelim();
}

function writeNoExtensions(writer: Writer, type: string): void {
  openNested(writer, 5);
  writeText(writer, 1, type);
  writer.ldelim();
}

function answerReflection(bytes: Buffer, services: readonly string[]): Buffer {
  const question: ReflectionRequest = {};
  readFields(createReader(bytes), bytes.length, question, REQUEST, 0);
  const writer = createWriter();
  writer.uint32(tagOf(2, BYTES)).bytes(bytes);
  if (question.services) writeServices(writer, services);
  else if (question.symbol !== undefined) writeFiles(writer, findFileOfSymbol(question.symbol));
  else if (question.file !== undefined) writeFiles(writer, findFile(question.file));
  else if (question.extensionsOf !== undefined) writeNoExtensions(writer, question.extensionsOf);
  else if (question.extension) writeError(writer, CODE.notFound, 'Extensions are not supported');
  else writeError(writer, CODE.invalidArgument, 'The request is empty');
  return Buffer.from(writer.finish());
}

/** The methods of both versions of the reflection service. They list the services in `listed`. */
export function reflectionMethods(listed: readonly string[]): Method[] {
  return [SERVICES.reflectionAlpha, SERVICES.reflection].map((service) => ({
    service,
    name: 'ServerReflectionInfo',
    kind: 'bidi-stream',
    run(stream: BidiStream) {
      stream.on('data', (bytes: Buffer) => {
        try {
          stream.write(answerReflection(bytes, listed));
        } catch {
          failStream(stream, createRpcFailure(CODE.invalidArgument, 'The bytes are not a ServerReflectionRequest'));
        }
      });
      stream.on('end', () => stream.end());
    },
  }));
}
