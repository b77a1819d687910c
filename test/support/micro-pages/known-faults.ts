/** What extraction still gets wrong on micro-pages, in a file that `npm run fit:known` writes. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Faults, faultsAtUrls } from './answers.ts';
import { readWithLectern } from './lectern.ts';
import type { MicroPage } from './micro-page.ts';
import { microPages } from './micro-pages.ts';

/** Errors of a page. Values without an error are left out. */
export interface KnownFault {
  /** Number of wanted strings that are missing at one URL or more, and the first of them. */
  readonly lost?: number;
  readonly first?: string;
  /** Furniture that is in the answer at one URL or more. */
  readonly extra?: readonly string[];
  /** Number of different texts at the URLs, if it is more than one. */
  readonly texts?: number;
}

/** By family and name. */
export type KnownFaults = Readonly<Record<string, Readonly<Record<string, KnownFault>>>>;

const FILE = path.resolve(import.meta.dirname, '../../fixtures/micro/known.json');

export const readKnownFaults = (): KnownFaults => JSON.parse(readFileSync(FILE, 'utf8'));

export const isFaulty = ({ lost, extra, texts }: Faults): boolean => lost.length > 0 || extra.length > 0 || texts > 1;

const asKnown = ({ lost, extra, texts }: Faults): KnownFault => ({
  ...(lost.length > 0 && { lost: lost.length, first: lost[0]!.split('\n')[0]! }),
  ...(extra.length > 0 && { extra }),
  ...(texts > 1 && { texts }),
});

/** Reads all pages and writes the file. Returns the number of pages and of faulty ones. */
export async function recordKnownFaults(pages: readonly MicroPage[] = microPages()): Promise<[number, number]> {
  const known: Record<string, Record<string, KnownFault>> = {};
  let faulty = 0;
  for (const page of pages) {
    const faults = await faultsAtUrls(page, readWithLectern);
    if (!isFaulty(faults)) continue;
    faulty += 1;
    known[page.family] = { ...known[page.family], [page.name]: asKnown(faults) };
  }
  writeFileSync(FILE, `${JSON.stringify(known, null, 2)}\n`);
  return [pages.length, faulty];
}
