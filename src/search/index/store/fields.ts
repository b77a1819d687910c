/** The fields of a passage in which words are found, for all stores. */
import type { Field } from '../write/prepare-page.ts';

/** Weight of a term in each field, in the column order of the FTS5 table. */
export const FIELD_WEIGHTS: Readonly<Record<Field, number>> = {
  title: 3,
  heading: 2,
  body: 1,
  also: 0.7,
  address: 0.5,
};
export const FIELDS = Object.keys(FIELD_WEIGHTS) as Field[];
