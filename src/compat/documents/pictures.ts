/** The pictures of a document. Their bytes are not part of the text, so that they do not count as tokens. */
import type { ContentElement, Rendition } from '#reader/index.ts';

/** The pictures in the content, as data URLs, by the URLs by which the content refers to them. */
export const dataUrlsOf = ({ pictures = [] }: Rendition): ReadonlyMap<string, string> =>
  new Map(pictures.map(({ url, dataUrl }) => [url, dataUrl]));

/** The elements with their pictures as data URLs. */
export function withDataUrls(elements: readonly ContentElement[], rendition: Rendition): ContentElement[] {
  const dataUrls = dataUrlsOf(rendition);
  return elements.map((element) => {
    const url = element.url === undefined ? undefined : dataUrls.get(element.url);
    return url === undefined ? element : { ...element, url };
  });
}
