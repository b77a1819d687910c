/**
 * A connection that rewrites HTTP/1 responses for a strict parser. Both the fetch and the browser's egress proxy use
 * it, so they interpret responses in the same way.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Problem } from '#errors.ts';
import { MAX_HEADER_BYTES } from '../connect/channel.ts';
import { type ChunkParser, createChunkParser } from './chunked.ts';
import { interimResponseOnly } from './failures.ts';
import { type Framing, findHeadEnd, findHeadStart, headTooLarge, notHttp1, parseHead } from './response-head.ts';

const MAX_METHOD = 20;
const NOTHING = Buffer.alloc(0);
const CRLF = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Carries one request at a time, from its first write to the end of its response. */
export class ResponseStream extends Duplex {
  readonly #socket: Socket;
  /** Why a response was rejected. */
  fault: Problem | undefined;
  /** `idle`: no request is running. */
  #state: 'idle' | 'head' | Framing = 'idle';
  #method = '';
  #head: Buffer = NOTHING;
  #headLength = 0;
  /** Total size of all heads of a response, including those of interim responses. */
  #headBytes = 0;
  #chunks: ChunkParser | undefined;
  /** Status of the most recent interim response. */
  #interim: number | undefined;
  #hasRequest = false;
  #hasEnded = false;

  constructor(socket: Socket) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('end', () => this.#end());
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => {
      if (!this.#hasEnded) this.destroy();
    });
    socket.pause();
  }

  ref(): this {
    this.#socket.ref();
    return this;
  }

  unref(): this {
    this.#socket.unref();
    return this;
  }

  /** Bytes that arrive before a request was sent are read with the first request, which reports the error. */
  override _read(): void {
    if (this.#hasRequest) this.#socket.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#state === 'idle') {
      this.#state = 'head';
      this.#headBytes = 0;
      this.#interim = undefined;
      this.#method = chunk.toString('latin1', 0, MAX_METHOD).split(' ', 1)[0]!;
    }
    this.#socket.write(chunk, done);
    if (this.#hasRequest) return;
    this.#hasRequest = true;
    this.#socket.resume();
  }

  override _final(done: () => void): void {
    if (this.#socket.destroyed) done();
    else this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #receive(bytes: Buffer): void {
    let rest = bytes;
    try {
      while (rest.length && !this.#hasEnded) rest = this.#consume(rest);
    } catch (error) {
      if (this.#state === 'head') {
        this.#refuse(error as Problem);
      } else this.#end();
    }
  }

  /** Consumes bytes according to the current state. Returns the rest. */
  #consume(bytes: Buffer): Buffer {
    const state = this.#state;
    if (state === 'head') return this.#consumeHead(bytes);
    if (state === 'chunked') return this.#consumeChunks(bytes);
    if (state === 'close') {
      this.#emit(bytes);
      return NOTHING;
    }
    if (typeof state !== 'number') {
      // Bytes after the response were not requested.
      this.#end();
      return NOTHING;
    }
    const data = bytes.subarray(0, state);
    this.#emit(data);
    this.#state = state - data.length || 'idle';
    return bytes.subarray(data.length);
  }

  #consumeHead(bytes: Buffer): Buffer {
    const scanned = Math.max(0, this.#headLength - 2);
    this.#appendHead(bytes);
    const head = this.#head.subarray(0, this.#headLength);
    const start = findHeadStart(head);
    if (start === undefined) return NOTHING;
    if (start < 0) throw notHttp1();
    const end = findHeadEnd(head, Math.max(start, scanned));
    if (this.#headBytes + (end < 0 ? head.length : end) > MAX_HEADER_BYTES) throw headTooLarge();
    if (end < 0) return NOTHING;
    const rest = Buffer.from(head.subarray(end));
    const { status, framing, text } = parseHead(head.subarray(start, end), this.#method);
    this.#head = NOTHING;
    this.#headLength = 0;
    this.#headBytes += end;
    if (status < 200) this.#interim = status;
    else {
      this.#chunks = framing === 'chunked' ? createChunkParser() : undefined;
      this.#state = framing === 'none' || framing === 0 ? 'idle' : framing;
      this.#emit(Buffer.from(text, 'latin1'));
    }
    return rest;
  }

  /** Doubles the buffer as needed, so that a head sent byte by byte is not copied for each byte. */
  #appendHead(bytes: Buffer): void {
    const length = this.#headLength + bytes.length;
    if (length > this.#head.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.#head.length, length));
      this.#head.copy(larger, 0, 0, this.#headLength);
      this.#head = larger;
    }
    bytes.copy(this.#head, this.#headLength);
    this.#headLength = length;
  }

  #consumeChunks(bytes: Buffer): Buffer {
    const chunks = this.#chunks!;
    const isDone = chunks.push(bytes, (data) => {
      this.#emit(Buffer.from(`${data.length.toString(16)}\r\n`));
      this.#emit(data);
      this.#emit(CRLF);
    });
    if (!isDone) return NOTHING;
    this.#emit(LAST_CHUNK);
    this.#state = 'idle';
    return chunks.rest();
  }

  #emit(bytes: Buffer): void {
    if (bytes.length && !this.push(bytes)) this.#socket.pause();
  }

  #refuse(fault: Problem): void {
    this.fault = fault;
    this.destroy(fault);
  }

  /** Ends the stream. Bytes already pushed can still be read; the HTTP parser notices if any are missing. */
  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#state === 'head' && this.#interim !== undefined && !this.#headLength) {
      this.#refuse(interimResponseOnly(this.#interim));
      return;
    }
    this.push(null);
    this.#socket.destroy();
  }
}
