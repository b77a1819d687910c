import { Executor } from '../executor.ts';

/** Lets everything through: what a deployment without `uses` runs. */
export class BaseExecutor extends Executor {}
