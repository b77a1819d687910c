/**
 * The journal of charges: files in the data folder with the charges that are not in the database yet. A charge is in
 * the journal before its answer leaves, so killing the process loses none. Nothing is synced to the disk, so a crash of
 * the whole machine may. Charges of one tick of the event loop share one write.
 */
import { closeSync, ftruncateSync, futimesSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '#telemetry/log.ts';
import { HEARTBEAT_MS, journalName, journalOwner } from './journal-files.ts';
import { journalLine } from './journal-line.ts';
import type { Charge } from './records.ts';

export interface ChargeJournal {
  /**
   * Writes a charge, unless it is in the journal with the same cost and status. A later charge with the same id
   * replaces it. Calls `written` once the charge is in the journal, or cannot be.
   */
  write(charge: Charge, written?: () => void): void;
  /** Writes what is waiting for the end of the tick. */
  flush(): void;
  /** Removes charges that are stored elsewhere now. */
  release(charges: readonly Charge[]): void;
  /** Removes the files. Those with charges that were not released remain for the next start. */
  close(): void;
}

export interface ChargeJournalOptions {
  readonly folder: string;
  /** Maximum size of all files, in bytes. Further charges are only in memory. Default: 256 MB. */
  readonly maxBytes?: number | undefined;
  readonly log?: Pick<Log, 'info' | 'warn'> | undefined;
}

/** A file of the journal. */
interface Segment {
  readonly file: string;
  /** `undefined` until the first write. */
  fd: number | undefined;
  bytes: number;
  /** Number of charges in the file that are stored nowhere else. */
  open: number;
}

interface Entry {
  readonly charge: Charge;
  readonly segment: Segment;
}

/** A file of this size gets no further charges, so that it can be removed once its charges are in the database. */
const SEGMENT_BYTES = 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;

/** Opens a journal of this process. Its first file is created with the first charge. */
export function openChargeJournal({ folder, maxBytes = MAX_BYTES, log }: ChargeJournalOptions): ChargeJournal {
  const owner = journalOwner();
  const entries = new Map<string, Entry>();
  const segments = new Set<Segment>();
  let segmentCount = 0;
  let current = nextSegment();
  let text = '';
  let waiting: (() => void)[] = [];
  let flushing: NodeJS.Immediate | undefined;
  let isFailing = false;
  let isFull = false;
  /** Tells processes that cannot see this one that it is still running. */
  const heartbeat = setInterval(beat, HEARTBEAT_MS).unref();

  function nextSegment(): Segment {
    const segment = { file: path.join(folder, journalName(owner, segmentCount++)), fd: undefined, bytes: 0, open: 0 };
    segments.add(segment);
    return segment;
  }

  function write(charge: Charge, written?: () => void): void {
    const known = entries.get(charge.id);
    if (!known || !isSameCost(known.charge, charge)) {
      if (known) known.segment.open--;
      text += journalLine(charge);
      current.open++;
      entries.set(charge.id, { charge, segment: current });
      if (known) removeIfDone(known.segment);
    }
    if (!text) {
      written?.();
      return;
    }
    if (written) waiting.push(written);
    flushing ??= setImmediate(flush);
  }

  function flush(): void {
    clearImmediate(flushing);
    flushing = undefined;
    const [lines, calls] = [text, waiting];
    text = '';
    waiting = [];
    if (lines) append(lines);
    for (const call of calls) call();
  }

  function append(lines: string): void {
    if (isAtLimit(lines.length)) return;
    try {
      current.fd ??= openFile(current.file);
      const wanted = Buffer.byteLength(lines);
      const bytes = writeSync(current.fd, lines);
      current.bytes += bytes;
      if (bytes < wanted) throw new Error(`only ${bytes} of ${wanted} bytes were written`);
      if (isFailing) log?.info('usage is written to its journal again');
      isFailing = false;
      if (current.bytes >= SEGMENT_BYTES) current = nextSegment();
    } catch (error) {
      if (!isFailing)
        log?.warn({ err: error }, 'usage could not be written to its journal; a kill of this process would lose it');
      isFailing = true;
      // The next line must not continue one that was written in part.
      if (current.bytes) current = nextSegment();
    }
  }

  function isAtLimit(more: number): boolean {
    let size = more;
    if (segments.size * SEGMENT_BYTES > maxBytes) for (const { bytes } of segments) size += bytes;
    const wasFull = isFull;
    isFull = size > maxBytes;
    if (isFull && !wasFull)
      log?.warn(
        `the journal of usage has its maximum size of ${maxBytes} bytes; a kill of this process would lose more`,
      );
    return isFull;
  }

  function openFile(file: string): number {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return openSync(file, 'a', 0o600);
  }

  function release(charges: readonly Charge[]): void {
    const changed = new Set<Segment>();
    for (const { id } of charges) {
      const entry = entries.get(id);
      if (!entry) continue;
      entries.delete(id);
      entry.segment.open--;
      changed.add(entry.segment);
    }
    for (const segment of changed) removeIfDone(segment);
  }

  function removeIfDone(segment: Segment): void {
    if (segment.open > 0 || (segment === current && text)) return;
    try {
      if (segment === current) empty(segment);
      else remove(segment);
    } catch (error) {
      // A charge that is found twice counts once.
      log?.warn({ err: error }, 'a journal of usage could not be removed');
    }
  }

  function empty(segment: Segment): void {
    if (segment.fd !== undefined && segment.bytes) ftruncateSync(segment.fd, 0);
    segment.bytes = 0;
  }

  function remove(segment: Segment): void {
    segments.delete(segment);
    if (segment.fd === undefined) return;
    closeSync(segment.fd);
    rmSync(segment.file, { force: true });
  }

  function beat(): void {
    const now = new Date();
    for (const { fd, bytes } of segments) {
      try {
        if (fd !== undefined && bytes) futimesSync(fd, now, now);
      } catch (error) {
        log?.warn({ err: error }, 'a journal of usage could not be marked as in use');
      }
    }
  }

  return {
    write,
    flush,
    release,
    close() {
      flush();
      clearInterval(heartbeat);
      for (const segment of segments) {
        if (!segment.open) remove(segment);
        else if (segment.fd !== undefined) closeSync(segment.fd);
      }
      segments.clear();
    },
  };
}

/** The duration and the hold may differ: the first changes until the answer has been sent, the second expires. */
const isSameCost = (one: Charge, other: Charge): boolean =>
  one.tokens === other.tokens && one.status === other.status && one.model === other.model;
