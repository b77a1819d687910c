import { Executor } from '../executor.ts';

/** An executor that changes nothing. Deployments without `uses` run it. */
export class BaseExecutor extends Executor {}
