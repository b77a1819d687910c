/** Labels of micro-pages: everything outside the furniture is content. */
import type { Survey } from '#reader/extract/blocks/survey.ts';
import { FURNITURE } from '../../test/support/micro-pages/furniture.ts';
import { MICRO_PAGE_URLS, type MicroPage } from '../../test/support/micro-pages/micro-page.ts';
import { microPages } from '../../test/support/micro-pages/micro-pages.ts';
import type { TestPage } from '../scorer.ts';
import type { Labels } from './labels.ts';

/** Weight of a micro-page. They teach the trees small and bare pages, which are rare in the sets of annotated pages. */
const MICRO_WEIGHT = 0.15;
const MIN_WORDS = 30;

/** Texts of the furniture that pages need not be free of. */
const OTHER_FURNITURE = [...Object.values(FURNITURE).map(({ relatedTitle }) => relatedTitle), 'Fernhill Post', 'OK'];

const asWords = (text: string): string =>
  ` ${
    text
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.join(' ') ?? ''
  } `;

export function labelMicroPage({ blocks }: Survey, { drop }: MicroPage): Labels {
  const furniture = new Set([...drop, ...OTHER_FURNITURE].map(asWords));
  const dropped = [...drop.map(asWords)];
  const answer = Float32Array.from(blocks, ({ text }) => {
    const words = asWords(text);
    return furniture.has(words) || dropped.some((one) => words.includes(one)) ? 0 : 1;
  });
  const inside = blocks.reduce((sum, { words }, at) => sum + (answer[at] ? words : 0), 0);
  const norm = Math.max(inside, MIN_WORDS);
  return {
    answer,
    weight: Float32Array.from(blocks, ({ words }) => (words > 0 ? (MICRO_WEIGHT * (words + 1.5)) / norm : 0)),
  };
}

/** All micro-pages as test pages, each at one of their URLs. Pages of a family count as one site. */
export const microTestPages = (): { page: TestPage; micro: MicroPage }[] =>
  microPages().map((micro, at) => ({
    micro,
    page: {
      dataset: 'micro',
      id: `${micro.family}: ${micro.name}`,
      url: MICRO_PAGE_URLS[at % MICRO_PAGE_URLS.length]!,
      html: micro.html,
      gold: {},
    },
  }));
