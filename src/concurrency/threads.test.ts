// Full run only: starts worker threads.
import { describeWorkers, type Task } from './task-queue.suite.ts';
import { createThreadPool } from './threads.ts';

describeWorkers((setup) => createThreadPool<Task, unknown>(setup), 64);
