/** The message for a page that was sent in place of the content. */
import type { Page } from '#reader/index.ts';

export const blockedMessage = ({ kind }: NonNullable<Page['blocked']>): string =>
  `The site sent another page in place of the content: ${kind}`;
