/** The title of a slide as plain text, and as the name of its page. */
import { textOf } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';

export const plainTitle = (html: string): string => textOf(parseFragment(html)).replace(/\s+/g, ' ').trim();

/** The name of a slide's page, if the slide has a title. */
export function namedPage(html: string): { readonly name?: string } {
  const name = plainTitle(html);
  return name === '' ? {} : { name };
}
