/** All micro-pages, by family. */

import { BYLINES } from './families/bylines.ts';
import { CARDS } from './families/cards.ts';
import { CODE_BLOCKS } from './families/code.ts';
import { CONTACTS } from './families/contacts.ts';
import { CONTENTS } from './families/contents.ts';
import { DEFINITIONS } from './families/definitions.ts';
import { EMBEDS } from './families/embeds.ts';
import { FAQS } from './families/faqs.ts';
import { FOOTNOTES } from './families/footnotes.ts';
import { GALLERIES } from './families/galleries.ts';
import { GLOSSARIES } from './families/glossaries.ts';
import { KEY_VALUES } from './families/key-values.ts';
import { LINK_LISTS } from './families/link-lists.ts';
import { LISTS } from './families/lists.ts';
import { NOTICES } from './families/notices.ts';
import { POEMS } from './families/poems.ts';
import { PRICES_OF_PLANS } from './families/prices.ts';
import { QUOTES } from './families/quotes.ts';
import { RECIPES } from './families/recipes.ts';
import { RELEASES } from './families/releases.ts';
import { SCHEDULES } from './families/schedules.ts';
import { SHORT_PAGES } from './families/short-pages.ts';
import { STEPS } from './families/steps.ts';
import { TABLES } from './families/tables.ts';
import { TABS } from './families/tabs.ts';
import { TALKS } from './families/talks.ts';
import { THREADS } from './families/threads.ts';
import { TIMELINES } from './families/timelines.ts';
import type { MicroPage, Shape } from './micro-page.ts';
import { pagesOf } from './site.ts';

const FAMILIES: Readonly<Record<string, readonly Shape[]>> = {
  lists: LISTS,
  'lists of links': LINK_LISTS,
  tabs: TABS,
  embeds: EMBEDS,
  quotes: QUOTES,
  'definition lists': DEFINITIONS,
  galleries: GALLERIES,
  steps: STEPS,
  'tables of contents': CONTENTS,
  'key-value tables': KEY_VALUES,
  'code with captions': CODE_BLOCKS,
  footnotes: FOOTNOTES,
  'questions and answers': FAQS,
  'tables of data': TABLES,
  threads: THREADS,
  cards: CARDS,
  timelines: TIMELINES,
  schedules: SCHEDULES,
  recipes: RECIPES,
  glossaries: GLOSSARIES,
  prices: PRICES_OF_PLANS,
  'release notes': RELEASES,
  contacts: CONTACTS,
  poems: POEMS,
  'interviews and transcripts': TALKS,
  notices: NOTICES,
  bylines: BYLINES,
  'short pages': SHORT_PAGES,
};

export const microPages = (): MicroPage[] =>
  Object.entries(FAMILIES).flatMap(([family, shapes]) => pagesOf(family, shapes));
