import { describeWorkers, type Task } from './task-queue.suite.ts';
import { createThreads } from './threads.ts';

describeWorkers((setup) => createThreads<Task, unknown>(setup), 64);
