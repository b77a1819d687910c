/**
 * What runs in a child process of `processes.ts`: does the tasks of one module, one after the other. It ends with its
 * parent, even while a task holds it up: a thread beside it watches.
 */
import { endWithParent } from './end-with-parent.ts';
import type { Order, Reply } from './processes.ts';

const [, , module] = process.argv;
if (!module || !process.send) throw new Error('This is started by processes.ts alone');

endWithParent();
process.once('disconnect', () => process.exit());

const { default: work } = (await import(module)) as { default: (task: unknown) => unknown };

process.on('message', async ({ task }: Order) => {
  let reply: Reply;
  try {
    reply = { result: await work(task) };
  } catch (error) {
    reply = { failure: error instanceof Error ? error.message : String(error) };
  }
  process.send!(reply);
});
process.send('ready');
