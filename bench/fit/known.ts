/**
 * Records the remaining extraction errors on our own pages as `known` in each expected.json, and on micro-pages in
 * test/fixtures/micro/known.json, so that the tests check everything else: `npm run fit:known`. Run it after each fit.
 * Prints the totals. `-- --micro` records the micro-pages only.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseDocument } from '#html/parse.ts';
import { recordKnownFaults } from '../../test/support/micro-pages/known-faults.ts';
import { labelledText, OWN_PAGES, ownPages } from '../../test/support/own-pages.ts';
import { faultsOf, shippedAnswer, sumFaults, sumsAsText } from './own-answers.ts';

if (!process.argv.includes('--micro')) recordOwnPages();
const [micro, faulty] = await recordKnownFaults();
console.log(`micro-pages with errors: ${faulty} of ${micro}`);

function recordOwnPages(): void {
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
}
