/** Extracts the names of authors without the surrounding text: URLs, "by", roles, dates, the site's name. */
import type { SiteNames } from './site-name.ts';

export interface AuthorNames {
  people: string[];
  organizations: string[];
}

const MAX_NAMES = 20;
const MAX_NAME_CHARACTERS = 80;
/** Maximum length of a byline, in characters. */
const MAX_LINE_CHARACTERS = 400;

/** "By", in the languages where it precedes a name. Longer forms come first. */
export const BY_PREFIX =
  /^(?:(?:(?:written|posted|published|created|submitted|reviewed|words|story|text|article|report|reporting)\s+)?by|authors?|autor(?:in|es?)?|auteurs?|autore|written\s+by|geschrieben\s+von|veröffentlicht\s+von|ein\s+beitrag\s+von|von|écrit\s+par|rédigé\s+par|publié\s+par|par|escrito\s+por|publicado\s+por|por|scritto\s+da|a\s+cura\s+di|door|geschreven\s+door|skrevet\s+av|av|af|przez|автор|作者|文|記者|记者|글|저자)(?:\s*[:：]\s*|\s+(?=\S)|(?<=[作者文記记글저자])(?=\S))/iu;

const ROLE =
  /^(?:[\p{L}.&'-]+\s){0,5}(?:writer|editor|editor-in-chief|reporter|journalist|correspondent|columnist|contributor|blogger|producer|photographer|analyst|researcher|manager|director|coordinator|engineer|developer|founder|co-founder|ceo|cto|president|professor|specialist|expert|reviewer|strategist|publisher|redakteur(?:in)?|redaktion|autor(?:in)?|journaliste|rédact(?:eur|rice)|redactor|periodista|redazione|redacción|rédaction)$/iu;
const CREDENTIAL =
  /^(?:ph\.?\s?d|m\.?d|m\.?sc|b\.?sc|m\.?a|b\.?a|m\.?b\.?a|j\.?d|r\.?n|r\.?d|d\.?o|d\.?d\.?s|d\.?v\.?m|m\.?p\.?h|m\.?s|l\.?c\.?s\.?w|c\.?p\.?a|c\.?f\.?p|esq|jr|sr|ii|iii|pmp|rdn|ldn|faap|lmft)\.?$/i;
/** Placeholders that publishing systems write if there is no author. */
const PLACEHOLDER_NAME =
  /^(?:admin\w*|administrator|webmaster|web\s?team|editor(?:ial)?|staff|guest|user|unknown|anonymous|author|authors|none|null|undefined|n\/?a|test|default|root|wp\s?admin|super\s?user|system|redaktion|redazione|rédaction|redacción|redactie|follow|share|more|view\s.*|see\s.*|all\s+posts.*|read\s+more.*|contact.*|about.*|email.*|subscribe.*)$/i;
const ORGANIZATION =
  /\b(?:inc|llc|ltd|gmbh|corp|co|ag|plc|s\.?a|b\.?v|company|team|staff|group|news|press|media|magazine|journal|university|universität|université|universidad|institute|institut|foundation|association|society|ministry|department|office|agency|council|committee|library|museum|center|centre|editors|contributors|editorial|reuters|redaktion|network|studio|studios|blog|times|post|herald|tribune|gazette|international|federation|organization|organisation|bureau|service|services|school|college|hospital|clinic|bank|research|labs?|community)\b\.?/i;

/** The end of a name in machine-readable data. */
const PART_ENDS = /\s*[|•·\n\t[{<].*$/su;
/** The end of a name in a line of visible text that continues after the name. */
const NAME_ENDS =
  /\s*(?:[|•·–—\n\t[{</]|\s-\s|:\s|\b(?:on|in|at|updated|published|posted|last|for|via|est|is|was|has)\b\s|\s\d).*$/isu;
/** Words that remain after the date is removed, as in "le 5 mai". */
const TRAILING_DATE_WORD = /\s+(?:le|il|el|am|den|du|op|on|the|updated|published)$/i;
const URL_OR_EMAIL = /@|[[(]at[\])]|https?:|www\.|\p{L}{3,}\.[a-z]{2,4}\b/iu;

const spaced = (text: string) => text.replace(/[^\S\n]+/g, ' ').trim();

/** The format in which a source writes names. */
export interface NameStyle {
  /** Visible text, in which a line may continue after the name. */
  isText?: boolean;
  /** "Smith, John" is one name. */
  inverted?: boolean;
}

function piecesOf(line: string, { inverted }: NameStyle): string[] {
  const comma = line.split(/\s*,\s*/);
  if (inverted && comma.length === 2 && comma.every((part) => /^[\p{L}.'’ -]{1,40}$/u.test(part)))
    return CREDENTIAL.test(comma[1]!) ? [comma[0]!] : [`${comma[1]} ${comma[0]}`];
  return line.split(/\s*[,;、，；]\s*|\s+(?:and|&|und|et|y|och|og|with|mit|avec)\s+|\s*\+\s*/iu);
}

/** Returns the name in a piece of text, or '' if there is none. */
function nameIn(piece: string, { isText }: NameStyle): string {
  if (URL_OR_EMAIL.test(piece)) return '';
  const bare = piece.replace(/\s*\([^)]*\)/g, '').replace(isText ? NAME_ENDS : PART_ENDS, '');
  const text = spaced(bare.replace(TRAILING_DATE_WORD, '').replace(BY_PREFIX, '')).replace(
    /^["'“”‘’.:*]+|["“”:*,']+$/g,
    '',
  );
  if (!text || text.length > MAX_NAME_CHARACTERS || /[<>{}[\]=|\\^~()]/.test(text)) return '';
  if (!/\p{L}/u.test(text) || text.split(' ').length > 7) return '';
  return PLACEHOLDER_NAME.test(text) || ROLE.test(text) || CREDENTIAL.test(text) ? '' : text;
}

/** Finds the names in the values of a source. */
export function findAuthorNames(values: readonly string[], site: SiteNames, style: NameStyle = {}): AuthorNames {
  const names: AuthorNames = { people: [], organizations: [] };
  const seen = new Set<string>();
  for (const value of values) {
    if (value.length > MAX_LINE_CHARACTERS) continue;
    const line = spaced(value).replace(BY_PREFIX, '');
    if (ROLE.test(line)) continue;
    for (const piece of piecesOf(line, style)) {
      const name = nameIn(piece, style);
      const key = name.toLowerCase();
      const isOrganization = ORGANIZATION.test(name);
      if (!name || seen.has(key) || seen.size >= MAX_NAMES) continue;
      if (site.isName(name) || (isOrganization && site.containsName(name))) continue;
      seen.add(key);
      (isOrganization ? names.organizations : names.people).push(name);
    }
  }
  return names;
}

const PARTICLES = new Set(
  'de da do dos das del della di du des la le van von der den ter ten zu zum af av bin ibn al el y e'.split(' '),
);

/**
 * Whether free text looks like a name: two to five capitalized words, or a few characters of a script without
 * capitals.
 */
export function looksLikeName(text: string): boolean {
  const words = text.split(' ');
  if (words.length > 5 || /[\d!?;:"]/.test(text)) return false;
  if (/^[\p{Script=Han}\p{Script=Hangul}\p{Script=Katakana}\p{Script=Hiragana}·・]{2,12}$/u.test(text)) return true;
  if (words.length < 2) return false;
  return words.every((word) => /^\p{Lu}/u.test(word) || PARTICLES.has(word));
}
