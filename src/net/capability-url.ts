/**
 * Detects capability URLs, which give access to everyone who knows them (W3C TAG, "Good Practices for Capability
 * URLs"). They are recognized by credentials, by parameter names, or by parts that look random. In case of doubt, a URL
 * counts as secret. The only effect of a false positive is that fewer callers can find the page. Documented in
 * docs/guide/privacy.md.
 */
import { isUrl } from '#is-url.ts';
import { parseAddress } from './guard/ip-address.ts';
import { isTrackingParameter } from './tracking-parameters.ts';

/** Whether a URL is a capability URL. Also true for invalid URLs. Takes linear time. */
export const isCapabilityUrl = (text: string): boolean => isSecret(text, MAX_NESTING);

/** Maximum number of nesting levels of URLs within URLs that are checked. */
const MAX_NESTING = 2;

function isSecret(text: string, nested: number): boolean {
  if (!isUrl(text)) return true;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return true;
  if (!parseAddress(url.hostname) && url.hostname.split('.').some((label) => !isPunycode(label) && looksRandom(label)))
    return true;
  return (
    isSecretPath(url.pathname, url.hostname) ||
    hasSecretParameter(url.searchParams, nested) ||
    isSecretFragment(url.hash.slice(1), nested)
  );
}

const isPunycode = (label: string) => label.startsWith('xn--');

function isSecretPath(pathname: string, hostname: string): boolean {
  const segments = pathname.split('/').map(decoded);
  return segments.some((segment, at) => {
    const [name, ...parameters] = segment.split(';');
    if (parameters.length > 0 && hasSecretParameter(new URLSearchParams(parameters.join('&')), 0)) return true;
    const isCommit = COMMIT.test(name!) && isCodeHost(hostname) && BEFORE_COMMIT.has(segments[at - 1] ?? '');
    return !isCommit && looksRandom(name!);
  });
}

/** A commit hash is public and gives no access. */
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const BEFORE_COMMIT: ReadonlySet<string> = new Set([
  'archive',
  'blame',
  'blob',
  'commit',
  'commits',
  'compare',
  'raw',
  'src',
  'tree',
]);
const isCodeHost = (hostname: string): boolean =>
  ['github.com', 'gitlab.com', 'codeberg.org', 'bitbucket.org', 'gitea.com'].includes(hostname) ||
  /^(?:git|gitlab|gitea|forgejo|cgit)\./.test(hostname);

/** A fragment may contain parameters, a client-side route, or a key that never leaves the browser. */
function isSecretFragment(fragment: string, nested: number): boolean {
  if (fragment === '') return false;
  const query = fragment.slice(fragment.indexOf('?') + 1);
  if (query.includes('=') && hasSecretParameter(new URLSearchParams(query), nested)) return true;
  return fragment
    .split(/[/?&=!]/)
    .map(decoded)
    .some(looksRandom);
}

function hasSecretParameter(parameters: URLSearchParams, nested: number): boolean {
  const names = new Set([...parameters.keys()].map((name) => name.toLowerCase()));
  // An Azure shared access signature: version, expiry and permissions.
  if (['sv', 'se', 'sp'].every((name) => names.has(name))) return true;
  for (const [name, value] of parameters) {
    if (value === '' || isTrackingParameter(name)) continue;
    if (isSecretName(name) || value.split(/[/?&=]/).some(looksRandom)) return true;
    if (nested > 0 && /^https?:\/\//i.test(value) && isUrl(value) && isSecret(value, nested - 1)) return true;
  }
  return false;
}

/** Words anywhere in a parameter's name that mark it as secret: `share_token`, `shareToken`, `user[password]`. */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  `access accesscode apikey auth authcode authkey authorization authtoken bearer capability credential credentials hash hmac
  invitation invite jsessionid jwt key magic nonce oauth otp pass passcode passphrase passwd password phpsessid pin pwd sas
  secret sess session sessid sessionid sid sig sign signature signed ticket token unlock verification verify`.split(
    /\s+/,
  ),
);
const SECRET_ENDS = /(?:token|key|keyid|secret|password|signature|sessionid|sessid|sessionkey)$/;

function isSecretName(name: string): boolean {
  const lower = name.toLowerCase();
  if (/^x-(?:amz|goog|ms|oss|cos)-/.test(lower) || lower === 'code') return true;
  const words = name
    .slice(0, MAX_NAME)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  return words.some((word) => SECRET_WORDS.has(word) || SECRET_ENDS.test(word));
}

const MAX_NAME = 200;

/** Minimum number of random characters in a secret: 60 bits in hexadecimal, 77 bits in base 36. */
const RANDOM_LENGTH = 15;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Whether a part of a URL looks random: a UUID, or enough characters in pieces that are neither words nor numbers. */
function looksRandom(part: string): boolean {
  if (part.length < RANDOM_LENGTH) return false;
  if (UUID.test(part)) return true;
  let random = 0;
  for (const piece of part.match(/[A-Za-z0-9]+/g) ?? []) {
    if (isRandomPiece(piece)) random += piece.length;
    if (random >= RANDOM_LENGTH) return true;
  }
  return false;
}

/**
 * Whether a piece of letters and digits is random. In words, numbers, `256gb` and `iPad`, the character class (digit,
 * lower case, upper case) changes at most once.
 */
function isRandomPiece(piece: string): boolean {
  if (/^\d+$/.test(piece)) return piece.length >= MAX_NUMBER;
  if (/\d/.test(piece)) return (piece.match(CHANGES)?.length ?? 0) >= 2;
  if (piece.length >= RANDOM_LENGTH) return !isSpeakable(piece.toLowerCase());
  // Camel case consists of words with several letters, or acronyms.
  const words = piece.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [];
  return words.length >= 2 && piece.length / words.length < 3;
}

const CHANGES = /\d(?=[A-Za-z])|[A-Za-z](?=\d)|[a-z](?=[A-Z])/g;
/** A number with this many digits counts as random, because timestamps and post ids are shorter. */
const MAX_NUMBER = 24;

/** The most frequent letter pairs in words of European languages and Pinyin: a fifth of all pairs. */
const PAIRS: ReadonlySet<string> = new Set(
  `ab ac ad ag ai al am an ao ap ar as at au ay be bl ca ce ch ck co ct cz da de di do ea ec ed ee eh ei el em en er es et eu
  ft ge gi ha he hi ho ht ia ic id ie ig il im in io ir is it la ld le li ll lo ma me mi na nd ne ng ni no ns nt of oi ol om
  on op or os ot ou ow pe po pr qu ra re ri ro rs rt ru rz sa sc se sh si so ss st sz ta te th ti to tr ts ua ue ui un uo ur
  us ut ve wi xi yi ze zh zi`.split(/\s+/),
);
const SPEAKABLE_SHARE = 0.4;

function isSpeakable(letters: string): boolean {
  let known = 0;
  for (let at = 1; at < letters.length; at++) if (PAIRS.has(letters.slice(at - 1, at + 1))) known += 1;
  return known / (letters.length - 1) >= SPEAKABLE_SHARE;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
