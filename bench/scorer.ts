/** The interface of a scorer: a module that knows the pages of a folder and rates the extracted content. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export interface TestPage {
  dataset: string;
  id: string;
  url: string;
  html: string;
  /** The expected content: its text, or snippets that it must or must not contain. */
  gold: { text?: string; with?: string[]; without?: string[]; type?: string };
}

export interface Row {
  dataset: string;
  id: string;
  empty: boolean;
  score: unknown;
  ms?: number;
  error?: string;
}

/** Shares of words or snippets, 0 to 1: recall (r) and precision (p). */
export interface Figures {
  pages: number;
  f1: number;
  /** The standard error of `f1`. */
  f1_se?: number;
  p: number;
  r: number;
  /** Mean shares of the required and of the forbidden snippets that were found. */
  with?: number;
  without?: number;
}

export interface Report {
  datasets: Record<string, Figures & { types?: Record<string, Figures> }>;
  /** Mean F1 of the sets whose gold data was written by people. */
  headline_f1: number | null;
}

export interface Scorer {
  /** `limit` is the maximum number of pages per set. */
  pages(folder: string, options?: { limit?: number }): AsyncIterable<TestPage>;
  stripMarkdown(text: string): string;
  scorePage(dataset: string, predicted: string, gold: unknown): unknown;
  report(rows: readonly Row[]): Report;
  /** Formats a report as text for a terminal. */
  table(report: Report): string;
}

export const loadScorer = async (file: string): Promise<Scorer> => import(pathToFileURL(path.resolve(file)).href);
