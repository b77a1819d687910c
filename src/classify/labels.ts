/** Labels of zero-shot requests, and predictions over them. */
import { problem } from '#errors.ts';

/** Maximum number of labels in a list (docs/reference/wire/models.md, Classification). */
export const MAX_LABELS = 512;
export const MAX_GROUPS = 8;
/** Maximum number of labels in each of several groups. */
export const MAX_GROUP_LABELS = 64;
export const MAX_LABEL_CHARACTERS = 256;

export interface LabelScore {
  readonly label: string;
  /** A probability. */
  readonly score: number;
}

/**
 * Throws InvalidLabelsError if there are fewer than two labels, or if a label is empty, repeated or too long.
 */
export function checkLabels(labels: readonly string[], path: string): void {
  const refuse = (reason: string) =>
    problem('InvalidLabelsError', { path, message: `Invalid training labels: ${reason}` });
  if (labels.length < 2) throw refuse(`${path} must contain at least two different labels`);
  for (const label of labels) checkLabel(label, path);
  const repeated = labels.find((label, at) => labels.indexOf(label) !== at);
  if (repeated !== undefined) throw refuse(`${path} contains ${JSON.stringify(repeated)} twice`);
}

/** Throws InvalidLabelsError for an empty label or one that is too long. */
export function checkLabel(label: string, path: string): void {
  const reason = !label.trim()
    ? 'is empty'
    : label.length > MAX_LABEL_CHARACTERS
      ? `is longer than ${MAX_LABEL_CHARACTERS} characters`
      : undefined;
  if (reason) throw problem('InvalidLabelsError', { path, message: `Invalid training labels: ${path} ${reason}` });
}

/** Throws LabelLimitExceededError. */
export function checkLabelCount(count: number, limit: number | undefined, path: string): void {
  if (limit === undefined || count <= limit) return;
  const message = `Label count ${count} exceeds the plan maximum ${limit}`;
  throw problem('LabelLimitExceededError', { path, message });
}

/** The most probable label; among equals, the first one. */
export const best = (scores: readonly LabelScore[]): LabelScore =>
  scores.reduce((top, one) => (one.score > top.score ? one : top));
