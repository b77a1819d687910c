/** The schemas of a page in JSON responses, generated from the tables of the reader. */
import { PAGE_KINDS, REMOVAL_STEPS } from '#reader/index.ts';
import { fraction, integer, PAGE_FIELDS, PLACE, text, textMap, texts } from '../openapi/components.ts';

/** Metadata that the reader adds, under names that no web page can use (docs/guide/metadata.md). */
const METADATA = {
  ...textMap('The language and meta elements of the page, and findings of the reader under `lectern:`.'),
  properties: {
    'lectern:author': text('Names, separated by commas.'),
    'lectern:modifiedTime': text('When the page was last changed, ISO 8601.'),
    'lectern:siteName': text('The name of the site, as the page states it.'),
    'lectern:image': text('URL of the preview image of the page.'),
    'lectern:canonicalUrl': text('The canonical URL that the page declares.'),
    'lectern:language': text('A language tag.'),
    'lectern:kind': { enum: PAGE_KINDS, description: 'The kind of page.' },
    'lectern:kindConfidence': text('Confidence in the kind, 0.00 to 1.00.'),
    'lectern:extraction': text(
      'The version of the extraction. The same version gives the same Markdown for the same bytes.',
    ),
    'lectern:engine': text('The engine that read the page.'),
    'lectern:engineReason': text('Why this engine was chosen.'),
    'lectern:staleCopy': text(
      'The time when the returned copy was stored, if a cached copy is returned because the page could not be read.',
    ),
  },
};

const storedItem = {
  type: 'object',
  required: ['name', 'value'],
  properties: { name: text('The name.'), value: text('The value.') },
};

const STORAGE_STATE = {
  type: 'object',
  description:
    'With `exportStorageState`: cookies and local storage after the read, as the `storageState` option accepts them.',
  required: ['cookies', 'origins'],
  properties: {
    cookies: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'value', 'domain', 'path', 'expires', 'httpOnly', 'secure', 'sameSite'],
        properties: {
          ...storedItem.properties,
          domain: text('The domain.'),
          path: text('The path.'),
          expires: { type: 'number', description: 'Seconds since 1970; -1 for session cookies.' },
          httpOnly: { type: 'boolean' },
          secure: { type: 'boolean' },
          sameSite: { enum: ['Strict', 'Lax', 'None'] },
        },
      },
    },
    origins: {
      type: 'array',
      items: {
        type: 'object',
        required: ['origin', 'localStorage'],
        properties: { origin: text('The origin.'), localStorage: { type: 'array', items: storedItem } },
      },
    },
  },
};

export const PAGE = {
  type: 'object',
  required: ['title', 'description', 'url', 'usage'],
  properties: {
    title: text('The title of the article or document.'),
    description: text('The description that the page declares.'),
    url: text('The URL that was read.'),
    content: text('The page as Markdown.'),
    ...PAGE_FIELDS,
    storageState: STORAGE_STATE,
    warning: text('Possible problems with this response, one per line.'),
    metadata: METADATA,
    usage: { type: 'object', properties: { tokens: { type: 'integer' } }, required: ['tokens'] },
  },
};

const SELECTOR = text('A CSS selector that matches only this element, in the unmodified document.');

export const EXPLANATION = {
  type: 'object',
  description: 'With `explain`: what was removed and why, and the source of each block of the Markdown.',
  required: ['version', 'confidence', 'source', 'removed', 'removedCount', 'blocks', 'blockCount'],
  properties: {
    version: text('The version of the extraction.'),
    kind: { enum: PAGE_KINDS, description: 'The kind of page.' },
    kindConfidence: fraction('Confidence in the kind.'),
    confidence: fraction('Confidence in the choice of the content.'),
    source: {
      enum: ['main', 'container', 'page', 'head', 'nothing'],
      description:
        'Where the content comes from: `main` selected blocks, `container` everything outside the page frame, `page` the whole page, `head` the metadata, `nothing`.',
    },
    removed: {
      type: 'array',
      maxItems: 500,
      items: {
        type: 'object',
        required: ['step', 'rule', 'selector', 'words', 'text'],
        properties: {
          step: { enum: REMOVAL_STEPS, description: 'The step that removed the element.' },
          rule: text('The reason.'),
          selector: SELECTOR,
          words: integer('Number of words of the removed element.'),
          text: text('The first words of the removed element.'),
          hidden: { const: true, description: 'The text is invisible on the page.' },
          probability: fraction('The probability that the element is content.'),
          threshold: fraction('The probability at or above which the element would have been kept.'),
          signs: texts('The strongest signs that the element is not content.'),
        },
      },
    },
    removedCount: integer('Number of all removed elements, listed or not.'),
    blocks: {
      type: 'array',
      maxItems: 2000,
      items: {
        type: 'object',
        required: ['line', 'lines', 'selector', 'text'],
        properties: {
          line: integer('The first line of the block in `content`, counted from 1.'),
          lines: integer('Number of lines of the block.'),
          selector: SELECTOR,
          text: text('The start of the first line of the block.'),
          ...PLACE,
        },
      },
    },
    blockCount: integer('Number of all blocks, listed or not.'),
  },
};
