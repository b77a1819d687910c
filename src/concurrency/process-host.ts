/**
 * Entry point of the child processes of `processes.ts`. Runs the tasks of one module, one at a time. A watcher thread
 * ends the process when its parent exits, even while a task is blocking the event loop.
 */
import { endWithParent } from './end-with-parent.ts';
import type { TaskMessage, TaskReply } from './processes.ts';

const [, , module] = process.argv;
if (!module || !process.send) throw new Error('This file must be started by processes.ts');

endWithParent();
process.once('disconnect', () => process.exit());

const { default: work } = (await import(module)) as { default: (task: unknown) => unknown };

process.on('message', async ({ task }: TaskMessage) => {
  let reply: TaskReply;
  try {
    reply = { result: await work(task) };
  } catch (error) {
    reply = { failure: error instanceof Error ? error.message : String(error) };
  }
  process.send!(reply);
});
process.send('ready');
