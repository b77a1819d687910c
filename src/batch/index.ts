/** Public interface of the batch module: the only file of the module that other modules import. */
export { isFinal } from '#storage/jobs/states.ts';
export type { StoredFile } from './files.ts';
export { MAX_INLINE_LINES } from './input.ts';
export type { Job } from './job.ts';
export { type JobJson, toJobJson } from './job-json.ts';
export { linesOf } from './jsonl.ts';
export { MAX_LINE_BYTES, optionsOf } from './line.ts';
export type { FileKind } from './links.ts';
export { type MovedPiece, storeContents, withContents } from './moved-pieces.ts';
export type { PieceObjects } from './objects.ts';
export { BATCH_TABLES, type BatchModule, openBatch, type Submission } from './open.ts';
export { INVALID_LINE } from './run-line.ts';
export { BATCH_TASKS, taskOfKind } from './task.ts';
