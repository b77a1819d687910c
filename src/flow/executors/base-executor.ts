import { Executor } from '../executor.ts';

/** Changes nothing. Deployments without `uses` run it. */
export class BaseExecutor extends Executor {}
