/**
 * Micro-pages: small pages of our own, each built around one run of content (a list, a group of tabs, a quote). Every
 * item of the run must be in the answer, at each of eight URLs.
 */
import type { ClassNames } from './class-names.ts';
import type { Language } from './words.ts';

/** HTML with the words that must and must not be in the answer. An entry of `keep` with a scheme is the URL of a link. */
export interface Part {
  readonly html: string;
  readonly keep: readonly string[];
  readonly drop?: readonly string[];
}

/** One run of content, independent of the site around it. */
export interface Shape {
  readonly name: string;
  /** The h1 and title of its pages. */
  readonly title: string;
  readonly language: Language;
  make(names: ClassNames): Part;
}

export interface MicroPage {
  readonly family: string;
  readonly name: string;
  readonly html: string;
  readonly keep: readonly string[];
  readonly drop: readonly string[];
}

/** URLs that suggest different kinds of page. */
export const MICRO_PAGE_URLS: readonly string[] = [
  '/',
  '/blog/2024/05/title',
  '/products/item-4',
  '/forum/thread/123',
  '/search?q=x',
  '/docs/guide/install',
  '/category/shoes',
  '/a?id=7&comment=3',
].map((path) => `https://example.com${path}`);

/** A shape in English, unless another language is given. */
export const shape = (
  name: string,
  title: string,
  make: (names: ClassNames) => Part,
  language: Language = 'en',
): Shape => ({ name, title, make, language });
