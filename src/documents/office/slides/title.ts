/** The title of a slide as plain text. */
import { textOf } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';

export const plainTitle = (html: string): string => textOf(parseFragment(html)).replace(/\s+/g, ' ').trim();
