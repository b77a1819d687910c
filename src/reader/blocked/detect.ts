/**
 * Detects pages that were sent in place of the content: challenges, refusals, logins, error pages and others. The rules
 * are tables, each with its source. A phrase alone never decides: it must be the title or a heading, or most of what
 * the page says.
 */
import { isExplanation, withoutQuotations } from './about.ts';
import { type Blocked, type BlockedKind, GENERIC } from './blocked.ts';
import type { BlockedPageFacts } from './page-facts.ts';
import { isAboutMessage, kindByPhrases } from './phrases.ts';
import type { ResponseMarks } from './response-marks.ts';
import { STATUS_RULES } from './statuses.ts';
import { STRUCTURE_RULES } from './structure.ts';
import type { VendorRule } from './vendors/vendor-rule.ts';
import { VENDOR_RULES } from './vendors/vendors.ts';

export interface DetectionInput {
  readonly url: string;
  readonly status: number;
  readonly response?: ResponseMarks | undefined;
  readonly facts: BlockedPageFacts;
}

const VENDOR_LETTERS = 1_500;
/** A page with an error status and more text of its own than this is content. */
const ERROR_LETTERS = 1_500;
/** Kinds that a bot manager may mean. */
const REFUSALS: ReadonlySet<BlockedKind> = new Set<BlockedKind>([
  'challenge',
  'denied',
  'rate-limit',
  'geo',
  'server-error',
  'not-found',
]);

/** The kind of page that stands in place of the content; `undefined` for content. */
export function detectBlocked(input: DetectionInput): Blocked | undefined {
  return byVendor(input) ?? byStatus(input) ?? byStructureAndPhrases(input);
}

function byVendor(input: DetectionInput): Blocked | undefined {
  const { facts, status } = input;
  const marks = `url=${input.url}\n${facts.marks}`;
  const text = `${withoutQuotations(facts.title)}\n${withoutQuotations(facts.text)}`.trim();
  const known = { ...input, marks, text };
  const rule = VENDOR_RULES.find(
    (each) => holds(each, known) && !(isOfWords(each) && status < 400 && isArticle(facts)),
  );
  if (!rule) return undefined;
  const kind =
    rule.kind === 'by phrases'
      ? (kindByPhrases(facts, { isError: status >= 400, allowed: REFUSALS }) ?? rule.otherwise!)
      : rule.kind;
  return { kind, by: rule.by };
}

/** Whether the title or the first heading explains something, such as a message of a vendor. */
const isArticle = (facts: BlockedPageFacts): boolean =>
  isExplanation(facts.title) || isExplanation(facts.topics[0] ?? '') || isAboutMessage(facts);

/** Whether a rule tests only words, which an article about such pages has too. */
const isOfWords = ({ header, cookie, mark, status }: VendorRule): boolean => !(header || cookie || mark || status);

function holds(rule: VendorRule, input: DetectionInput & { readonly marks: string; readonly text: string }): boolean {
  const { facts, status, response, marks, text } = input;
  const { ownLetters = VENDOR_LETTERS, header, cookie } = rule;
  if (facts.ownLetters > ownLetters) return false;
  if (rule.isWithoutFields && facts.textFields + facts.passwordFields > 1) return false;
  if (rule.status && !rule.status.test(String(status))) return false;
  if (header) {
    const tests = Object.entries(header) as [keyof typeof header, RegExp][];
    if (!tests.every(([name, value]) => value.test(response?.headers[name] ?? ''))) return false;
  }
  if (cookie && !response?.cookies.some((name) => cookie.test(name))) return false;
  if (rule.title && !rule.title.test(facts.title)) return false;
  if (rule.says && !rule.says.test(text)) return false;
  return !rule.mark || rule.mark.test(marks);
}

function byStatus({ status, facts }: DetectionInput): Blocked | undefined {
  if (facts.ownLetters > ERROR_LETTERS) return undefined;
  const rule = STATUS_RULES.find((each) => each.status.test(String(status)));
  if (!rule) return undefined;
  const kind = kindByPhrases(facts, { isError: true, allowed: new Set([...rule.unless, rule.kind]) });
  return { kind: kind ?? rule.kind, by: GENERIC };
}

/** Phrases first: a form or an empty root beside "page not found" does not change what the page is. */
function byStructureAndPhrases({ facts }: DetectionInput): Blocked | undefined {
  const said = kindByPhrases(facts, { isError: false });
  if (said && said !== 'login') return { kind: said, by: GENERIC };
  let isAbout: boolean | undefined;
  for (const { kind, by, isOfParts } of STRUCTURE_RULES) {
    const vendor = by(facts);
    if (vendor === undefined) continue;
    // An article about logins or paywalls has their words.
    isAbout ??= isAboutMessage(facts);
    if (isOfParts || !isAbout) return { kind, by: vendor };
  }
  return said && { kind: said, by: GENERIC };
}
