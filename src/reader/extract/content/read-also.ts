/**
 * Recognizes references to other articles between the paragraphs of an article: "Also read: …", "Czytaj też: …". They
 * read like the text around them, so the trees are undecided.
 */
import type { Block, Survey } from '../blocks/survey.ts';
import { probabilityOfKind } from '../trees/page-features.ts';

const MIN_ARTICLE_PROBABILITY = 0.5;
const MAX_WORDS = 25;
/** Least share of the words that are links. */
const MIN_LINK_SHARE = 0.5;
/** Low enough that no later step takes the block in again. */
const PROBABILITY = 0.05;

const PHRASES: readonly string[] = [
  // English
  '(?:also|must|you may also|you might also|further|related) (?:read|see|watch|like|reading)',
  'read (?:also|more|next|this)',
  'related(?: (?:articles?|story|stories|posts?|content|links?|news|coverage))?',
  'see also',
  'more (?:on|from|about) this',
  "don['’]t miss",
  'recommended',
  // German, Dutch, the languages of Scandinavia
  '(?:lesen sie|lies) (?:auch|hier|mehr|dazu)(?: \\p{L}+)?',
  'mehr (?:zum thema|dazu|lesen)',
  'auch (?:interessant|lesenswert|spannend)',
  'siehe auch',
  'passend dazu',
  'weiterlesen',
  'lees ook',
  'bekijk ook',
  'läs (?:också|även|mer)',
  'les også',
  'læs også',
  // Spanish, Portuguese, French, Italian
  '(?:le|te) puede interesar',
  'puedes? (?:ver|leer)',
  '(?:lee|lea|leer|vea|mira|mire|ver) (?:también|además|más)',
  'también (?:lee|lea|puedes leer|te puede interesar)',
  '(?:leia|veja|assista) (?:também|mais)',
  'saiba mais',
  '(?:à |a )?(?:lire|voir) (?:aussi|également)',
  'sur le même sujet',
  'leggi anche',
  '(?:potrebbe|ti potrebbe|potrebbero) interessar\\p{L}+(?: anche)?',
  // Slavic languages, Hungarian, Turkish, Indonesian
  '(?:czytaj|zobacz|przeczytaj|sprawdź) (?:też|także|również|więcej)',
  'читайте (?:также|ещё|еще)',
  'читать также',
  'смотрите также',
  'по теме',
  'čtěte (?:také|též)',
  'přečtěte si(?: také| též)?',
  'olvassa el(?: ezt)? is',
  'bunu da oku',
  'ilgili haber',
  'baca juga',
  // Chinese, Japanese, Korean
  '延伸閱讀',
  '(?:相关|推荐)阅读',
  '(?:相關|推薦)閱讀',
  '関連記事',
  'あわせて読みたい',
  '관련 ?기사',
];
const READ_ALSO = new RegExp(`^[^\\p{L}\\p{N}]{0,6}(?:${PHRASES.join('|')})\\s*[:：|»>–—]`, 'iu');

const isReadAlso = ({ words, linkWords, text }: Block): boolean =>
  words <= MAX_WORDS && linkWords > 0 && linkWords >= words * MIN_LINK_SHARE && READ_ALSO.test(text);

/**
 * Lowers the probabilities of such references, in place, if the page is an article. Returns the numbers of their blocks.
 */
export function discountReadAlso(
  { blocks }: Survey,
  kinds: Float32Array,
  probabilities: Float32Array,
): ReadonlySet<number> {
  const found = new Set<number>();
  if (probabilityOfKind(kinds, 'article') < MIN_ARTICLE_PROBABILITY) return found;
  for (let at = 0; at < blocks.length; at++) {
    if (probabilities[at]! <= PROBABILITY || !isReadAlso(blocks[at]!)) continue;
    probabilities[at] = PROBABILITY;
    found.add(at);
  }
  return found;
}
