/** Words without their endings, by language (Snowball). Loaded with the first word that needs it. */
import { createRequire } from 'node:module';
import { own } from '#own.ts';

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

/** Stems are asked for again and again: the words of a language are few. */
const MAX_KEPT = 50_000;

const require = createRequire(import.meta.url);
const stemmers = new Map<string, { readonly stemmer: Stemmer; readonly kept: Map<string, string> }>();

/** The stem of a word in lower case; the word itself for languages that have no rules. */
export function stem(word: string, language: string | undefined): string {
  const algorithm = language === undefined ? undefined : own(ALGORITHMS, language);
  if (algorithm === undefined || word.length < 3) return word;
  let found = stemmers.get(algorithm);
  if (!found) {
    const { newStemmer } = require('snowball-stemmers') as { newStemmer: (name: string) => Stemmer };
    found = { stemmer: newStemmer(algorithm), kept: new Map() };
    stemmers.set(algorithm, found);
  }
  const { stemmer, kept } = found;
  const known = kept.get(word);
  if (known !== undefined) return known;
  const made = stemmer.stem(word) || word;
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(word, made);
  return made;
}
