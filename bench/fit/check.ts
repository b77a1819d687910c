/**
 * Cross-validation: the sites are split into parts, and each part is read with trees that were fitted to the other
 * parts.
 */
import { copyKeptBlocks } from '#reader/extract/content/copy-blocks.ts';
import { selectContent } from '#reader/extract/content/select-content.ts';
import { estimatePageKind } from '#reader/extract/trees/page-kind.ts';
import { faultsOf as microFaults } from '../../test/support/micro-pages/answers.ts';
import { asMarkdown } from '../as-markdown.ts';
import type { Row, Scorer } from '../scorer.ts';
import { fitAll, readFitted } from './fit-all.ts';
import { faultsOf, type OwnSums, sumFaults } from './own-answers.ts';
import { PARTS, type Sample } from './samples.ts';

export interface Checked {
  rows: Row[];
  /** Number of annotated pages with a known kind, and how many of them the trees classify correctly. */
  kinds: { known: number; right: number };
  /** Our own pages. */
  own: OwnSums;
  /** Micro-pages, each at one URL, and how many of them have no fault. */
  micro: { pages: number; right: number };
}

export function crossValidate(samples: readonly Sample[], scorer: Scorer): Checked {
  const rows: Row[] = [];
  const kinds = { known: 0, right: 0 };
  const micro = { pages: 0, right: 0 };
  const own: Parameters<typeof sumFaults>[0][number][] = [];
  for (let part = 0; part < PARTS; part++) {
    const fitted = readFitted(fitAll(samples, part));
    for (const sample of samples) {
      if (sample.part !== part) continue;
      const { page, body, survey, facts } = sample;
      const selected = survey.blocks.length ? selectContent(survey, facts, fitted) : null;
      const content = selected ? copyKeptBlocks(body, survey, selected.keep) : body;
      const markdown = asMarkdown(content, page.url || 'http://localhost/');
      if (sample.micro) {
        const { lost, extra } = microFaults(sample.micro, [markdown]);
        micro.pages += 1;
        if (lost.length + extra.length === 0) micro.right += 1;
        continue;
      }
      const score = scorer.scorePage(page.dataset, markdown, page.gold);
      rows.push({ dataset: page.dataset, id: page.id, empty: !markdown.trim(), score });
      if (sample.own) {
        const { expected, text } = sample.own;
        const kind = selected ? estimatePageKind(survey, selected, facts)?.kind : undefined;
        own.push({ expected, fault: faultsOf({ content, kind }, expected, text) });
      } else if (sample.kind >= 0 && page.gold.type) {
        kinds.known += 1;
        const likely = selected?.choice?.kindsAt(facts);
        if (likely && likely.indexOf(Math.max(...likely)) === sample.kind) kinds.right += 1;
      }
    }
  }
  return { rows, kinds, own: sumFaults(own), micro };
}
