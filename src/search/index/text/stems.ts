/** Stems words by language, using Snowball. Stemmers are loaded on first use. */
import { createRequire } from 'node:module';
import { ownValue } from '#own-value.ts';

interface Stemmer {
  stem(word: string): string;
}

const ALGORITHMS: Readonly<Record<string, string>> = {
  ar: 'arabic',
  ca: 'catalan',
  cs: 'czech',
  da: 'danish',
  de: 'german',
  en: 'english',
  es: 'spanish',
  eu: 'basque',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hu: 'hungarian',
  hy: 'armenian',
  it: 'italian',
  nl: 'dutch',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sl: 'slovene',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
};

/** Maximum number of stems that are cached for each language. */
const MAX_CACHED = 50_000;

const require = createRequire(import.meta.url);
const stemmers = new Map<string, { readonly stemmer: Stemmer; readonly cache: Map<string, string> }>();

/** Returns the stem of a lower-case word, or the word itself if its language has no stemmer. */
export function stem(word: string, language: string | undefined): string {
  const algorithm = language === undefined ? undefined : ownValue(ALGORITHMS, language);
  if (algorithm === undefined || word.length < 3) return word;
  let found = stemmers.get(algorithm);
  if (!found) {
    const { newStemmer } = require('snowball-stemmers') as { newStemmer: (name: string) => Stemmer };
    found = { stemmer: newStemmer(algorithm), cache: new Map() };
    stemmers.set(algorithm, found);
  }
  const { stemmer, cache } = found;
  const known = cache.get(word);
  if (known !== undefined) return known;
  const made = stemmer.stem(word) || word;
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(word, made);
  return made;
}
