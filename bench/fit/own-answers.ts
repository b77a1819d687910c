/** Extraction errors on one of our own pages, and their totals over all pages. */
import type { Document, Element } from '#html/node.ts';
import { extractArticle } from '#reader/extract/extract.ts';
import { type Expected, type Known, singleLineText, spacedText, wordF1 } from '../../test/support/own-pages.ts';
import { asMarkdown } from '../as-markdown.ts';

export interface Answer {
  content: Document | Element;
  kind?: string | undefined;
  title?: string | undefined;
}

/** Pages that reach this F1 need no separate minimum. */
const USUAL_F1 = 0.9;

/** Extracts with the shipped trees. Modifies `document`. */
export function shippedAnswer(document: Document, expected: Expected): Answer {
  const url = expected.url ?? 'https://clay.example/a/page';
  return extractArticle(document, { url, baseUrl: url, whole: false });
}

export interface Fault {
  known: Known;
  kindRight: boolean;
  /** Word F1 against the labels; `undefined` if the page has none. */
  f1: number | undefined;
}

/** Compares a result with the expectation and with `gold`, the labelled text of the page. */
export function faultsOf({ content, kind, title }: Answer, expected: Expected, gold: string | undefined): Fault {
  const text = singleLineText(content);
  const markdown = asMarkdown(content, 'https://clay.example/');
  const known: Known = {};
  const missing = expected.keep.filter((words) => !text.includes(words));
  const extra = expected.drop.filter((words) => text.includes(words));
  const lines = (expected.markdown ?? []).filter((line) => !markdown.includes(line));
  if (missing.length) known.missing = missing;
  if (extra.length) known.extra = extra;
  if (lines.length) known.markdown = lines;
  if (expected.kind !== undefined && kind !== expected.kind && kind) known.kind = kind;
  if (expected.title !== undefined && title !== undefined && title !== expected.title) known.title = title;
  const f1 = gold === undefined ? undefined : wordF1(spacedText(content), gold);
  if (f1 !== undefined && f1 < USUAL_F1) known.f1 = Math.floor(f1 * 20) / 20;
  return { known, f1, kindRight: kind === expected.kind };
}

export interface OwnSums {
  pages: number;
  /** Number of labelled pages, and their mean word F1. */
  labelled: number;
  f1: number;
  /** Number of required and forbidden words, and how many of them are wrong in the results. */
  pieces: number;
  wrong: number;
  kinds: number;
  kindsRight: number;
}

export function sumFaults(all: readonly { expected: Expected; fault: Fault }[]): OwnSums {
  const f1s = all.flatMap(({ fault }) => (fault.f1 === undefined ? [] : [fault.f1]));
  const sum = (count: (one: (typeof all)[number]) => number) => all.reduce((total, one) => total + count(one), 0);
  return {
    pages: all.length,
    labelled: f1s.length,
    f1: f1s.reduce((total, f1) => total + f1, 0) / f1s.length,
    pieces: sum(({ expected }) => expected.keep.length + expected.drop.length),
    wrong: sum(({ fault: { known } }) => (known.missing?.length ?? 0) + (known.extra?.length ?? 0)),
    kinds: sum(({ expected }) => (expected.kind === undefined ? 0 : 1)),
    kindsRight: sum(({ expected, fault }) => (expected.kind !== undefined && fault.kindRight ? 1 : 0)),
  };
}

/** The totals as lines of text. */
export const sumsAsText = ({ labelled, f1, pieces, wrong, kinds, kindsRight }: OwnSums): string =>
  `mean word F1 ${f1.toFixed(3)} over ${labelled} labelled pages\n` +
  `pieces wrong: ${wrong} of ${pieces}; kinds wrong: ${kinds - kindsRight} of ${kinds}`;
