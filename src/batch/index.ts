export { MAX_FILE_LINES, MAX_INLINE_LINES } from './input.ts';
export { isFinal, type Job, STATES } from './job.ts';
export { LINE_OPTIONS, optionsOf } from './line.ts';
export type { FileKind } from './links.ts';
export { type BatchRoom, openBatch, type Submission } from './open.ts';
export { type ShownJob, showJob } from './shown.ts';
export { BATCH_TASKS, taskOfKind } from './task.ts';
