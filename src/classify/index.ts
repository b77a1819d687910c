/** Public interface of the classification module: the only file that other modules import. */
export { CLASSIFY_TABLES, type ClassifierOwner, type ClassifyModule, openClassify } from './open.ts';
export { CLASSIFY_FIELDS, readClassifyRequest, readTrainRequest, TRAIN_FIELDS } from './request.ts';
export type { ClassifierRecord } from './store.ts';
export type { Prediction } from './zero-shot.ts';
