/** The tabs of the page. */
import type { FormName } from '../../src/api/pages/playground-types.ts';

export const TABS = [
  {
    name: 'read',
    title: 'Read',
    form: 'read',
    heading: 'Read a web page or file as Markdown.',
    hint: 'The content of the page appears here: rendered, raw and as JSON, with the parts that were removed.',
  },
  {
    name: 'crawl',
    title: 'Crawl',
    form: 'crawl',
    heading: 'Read the pages of a site.',
    hint: 'The pages appear here as they are read.',
  },
  {
    name: 'search',
    title: 'Search',
    form: 'search',
    heading: 'Search the web and read the results.',
    hint: 'The results appear here, each with its content.',
  },
  {
    name: 'ask',
    title: 'Ask the index',
    form: 'search',
    heading: 'Find passages in the pages this server has read.',
    hint: 'The best passages appear here, with the pages they come from.',
  },
  {
    name: 'embed',
    title: 'Embed',
    form: 'embed',
    heading: 'Turn texts into vectors and compare them.',
    hint: 'The vectors appear here, with the similarity of each pair of texts.',
  },
  {
    name: 'rerank',
    title: 'Rerank',
    form: 'rerank',
    heading: 'Order documents by relevance to a query.',
    hint: 'The documents appear here, best first, with their scores.',
  },
  {
    name: 'ocr',
    title: 'Recognize',
    form: 'ocr',
    heading: 'Recognize the text of an image or PDF.',
    hint: 'The recognized text appears here as Markdown.',
  },
  {
    name: 'batch',
    title: 'Batch',
    form: 'batch',
    heading: 'Embed many texts in a job.',
    hint: 'The progress of the job appears here, and its lines when it has ended.',
  },
  {
    name: 'flow',
    title: 'Flow',
    form: 'flow',
    heading: 'Send documents through the flow.',
    hint: 'The documents of the response appear here, with their matches.',
  },
] as const satisfies readonly { name: string; title: string; form: FormName; heading: string; hint: string }[];

export type TabName = (typeof TABS)[number]['name'];
export const isTab = (text: string | null): text is TabName => TABS.some(({ name }) => name === text);
export const tabOf = (name: TabName) => TABS.find((tab) => tab.name === name)!;

/** Response formats. */
export const FORMS_OF_ANSWER = { json: 'JSON', stream: 'Stream', text: 'Text' } as const;
export type AnswerForm = keyof typeof FORMS_OF_ANSWER;

/** Response formats of each tab. The first one is the default. */
export const ANSWER_FORMS: Readonly<Record<TabName, readonly AnswerForm[]>> = {
  read: ['json', 'stream', 'text'],
  search: ['json', 'stream', 'text'],
  ask: ['json', 'text'],
  embed: ['json'],
  rerank: ['json'],
  ocr: ['json', 'stream'],
  crawl: ['stream'],
  batch: ['json'],
  flow: ['json'],
};
