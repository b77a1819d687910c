/**
 * A connection whose answers are written anew, in a form that a strict HTTP/1 parser takes: both ways out, the fetch and
 * the proxy of the browser, read them through this, so that they read them alike.
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

/** Carries one request at a time, from the first write on to the end of its answer. */
export class ResponseStream extends Duplex {
  readonly #socket: Socket;
  /** Why an answer was refused. */
  fault: Problem | undefined;
  /** `idle`: nothing was asked. */
  #state: 'idle' | 'head' | Framing = 'idle';
  #method = '';
  #head: Buffer = NOTHING;
  #headLength = 0;
  /** Of all heads of an answer: those of informational answers count too. */
  #headBytes = 0;
  #chunks: ChunkParser | undefined;
  /** The status of the last informational answer to the request. */
  #interim: number | undefined;
  #isAsked = false;
  #isOver = false;

  constructor(socket: Socket) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.#heard(bytes));
    socket.on('end', () => this.#end());
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => {
      if (!this.#isOver) this.destroy();
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

  /** Who speaks before being asked is heard with the first request, so that it is told what is wrong. */
  override _read(): void {
    if (this.#isAsked) this.#socket.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#state === 'idle') {
      this.#state = 'head';
      this.#headBytes = 0;
      this.#interim = undefined;
      this.#method = chunk.toString('latin1', 0, MAX_METHOD).split(' ', 1)[0]!;
    }
    this.#socket.write(chunk, done);
    if (this.#isAsked) return;
    this.#isAsked = true;
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

  #heard(bytes: Buffer): void {
    let rest = bytes;
    try {
      while (rest.length && !this.#isOver) rest = this.#take(rest);
    } catch (error) {
      if (this.#state === 'head') {
        this.#refuse(error as Problem);
      } else this.#end();
    }
  }

  /** Reads on; gives the bytes that are still to be read. */
  #take(bytes: Buffer): Buffer {
    const state = this.#state;
    if (state === 'head') return this.#takeHead(bytes);
    if (state === 'chunked') return this.#takeChunks(bytes);
    if (state === 'close') {
      this.#give(bytes);
      return NOTHING;
    }
    if (typeof state !== 'number') {
      // Nobody asked for what comes after an answer.
      this.#end();
      return NOTHING;
    }
    const data = bytes.subarray(0, state);
    this.#give(data);
    this.#state = state - data.length || 'idle';
    return bytes.subarray(data.length);
  }

  #takeHead(bytes: Buffer): Buffer {
    const scanned = Math.max(0, this.#headLength - 2);
    this.#gather(bytes);
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
      this.#give(Buffer.from(text, 'latin1'));
    }
    return rest;
  }

  /** Grows in steps: a head that comes byte by byte must not be copied with each. */
  #gather(bytes: Buffer): void {
    const length = this.#headLength + bytes.length;
    if (length > this.#head.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.#head.length, length));
      this.#head.copy(larger, 0, 0, this.#headLength);
      this.#head = larger;
    }
    bytes.copy(this.#head, this.#headLength);
    this.#headLength = length;
  }

  #takeChunks(bytes: Buffer): Buffer {
    const chunks = this.#chunks!;
    const isDone = chunks.take(bytes, (data) => {
      this.#give(Buffer.from(`${data.length.toString(16)}\r\n`));
      this.#give(data);
      this.#give(CRLF);
    });
    if (!isDone) return NOTHING;
    this.#give(LAST_CHUNK);
    this.#state = 'idle';
    return chunks.rest();
  }

  #give(bytes: Buffer): void {
    if (bytes.length && !this.push(bytes)) this.#socket.pause();
  }

  #refuse(fault: Problem): void {
    this.fault = fault;
    this.destroy(fault);
  }

  /** What was given can still be read; what is missing then, the parser notices. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#state === 'head' && this.#interim !== undefined && !this.#headLength) {
      this.#refuse(interimResponseOnly(this.#interim));
      return;
    }
    this.push(null);
    this.#socket.destroy();
  }
}
