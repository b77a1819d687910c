/**
 * Records what extraction still gets wrong on our own pages, as `known` in each expected.json, so that the tests hold
 * everything else: `npm run fit:known`, to be run after a fit. Prints the totals.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseDocument } from '#html/parse.ts';
import { labelledText, OWN_PAGES, ownPages } from '../../test/support/own-pages.ts';
import { faultsOf, shippedAnswer, sumFaults, sumsAsText } from './own-answers.ts';

const all = ownPages().map(({ name, html, expected }) => {
  const { known: _, ...wanted } = expected;
  const document = parseDocument(html);
  const gold = wanted.content && labelledText(document, wanted);
  const fault = faultsOf(shippedAnswer(document, wanted), wanted, gold);
  const rest = Object.keys(fault.known).length ? { ...wanted, known: fault.known } : wanted;
  writeFileSync(path.join(OWN_PAGES, name, 'expected.json'), `${JSON.stringify(rest, null, 2)}\n`);
  return { expected: wanted, fault };
});
console.log(sumsAsText(sumFaults(all)));
