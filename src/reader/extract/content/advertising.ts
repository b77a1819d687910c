/** Recognizes short advertisements that say so themselves: "Advertisement: …", "Publicidad: …". */
import type { Survey } from '../blocks/survey.ts';

/** In lists, tables and headings, the same words name a subject. */
const OWNERS = new Set(['p', 'div', 'span', 'section', 'aside', 'a', 'figcaption', 'small', 'center']);
const MAX_WORDS = 25;
/** Low enough that no later step takes the block in again. */
const PROBABILITY = 0.05;

const LABELS: readonly string[] = [
  'advertisements?',
  'advertorial',
  'sponsored(?: (?:content|post|by \\p{L}+))?',
  'promoted(?: (?:content|post))?',
  'paid (?:content|post|partnership)',
  'werbung',
  'gesponsert',
  'publicité',
  'contenu sponsorisé',
  'sponsorisé',
  'publicidad',
  'contenido patrocinado',
  'patrocinado',
  'publicidade',
  'conteúdo patrocinado',
  'pubblicità',
  'contenuto sponsorizzato',
  'advertentie',
  'reklam[ae]?',
  'annonse?',
  'mainos',
  'hirdetés',
  'διαφήμιση',
  'реклама',
  '广告',
  '廣告',
  '広告',
  'スポンサー',
  '광고',
  'إعلان',
];
const LABELLED = new RegExp(`^[^\\p{L}\\p{N}]{0,4}(?:${LABELS.join('|')})\\s*[:：|–—-]`, 'iu');

/** Whom to ask about advertising is no advertisement. */
const CONTACT = /@|\d[\d\s()+.-]{5,}\d/;

/** Lowers the probabilities of advertisements, in place. Returns their blocks. */
export function discountAdvertising({ blocks, elements }: Survey, probabilities: Float32Array): ReadonlySet<number> {
  const found = new Set<number>();
  for (let at = 0; at < blocks.length; at++) {
    const { owner, words, text } = blocks[at]!;
    if (words > MAX_WORDS || !(OWNERS.has(elements[owner]!.name) || elements[owner]!.name.includes('-'))) continue;
    if (!LABELLED.test(text) || CONTACT.test(text)) continue;
    found.add(at);
    probabilities[at] = Math.min(probabilities[at]!, PROBABILITY);
  }
  return found;
}
