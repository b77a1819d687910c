/** A flow whose definition can be replaced while it serves. The old flow serves until the new one is ready. */
import type { FlowDefinition } from '../definition/definition.ts';
import { createFlow, type Flow, type FlowTools } from '../flow.ts';

export interface ReloadableFlow extends Flow {
  /**
   * Starts a flow from the new definition and switches to it. The old flow then finishes its requests and is closed.
   * Rejects and keeps the old flow if the new one cannot start.
   */
  replace(definition: FlowDefinition): Promise<void>;
}

export function createReloadableFlow(first: FlowDefinition, tools: FlowTools): ReloadableFlow {
  let current = createFlow(first, tools);
  let replaced: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function replace(definition: FlowDefinition): Promise<void> {
    const next = createFlow(definition, tools);
    await next.start();
    if (isClosed) return next.close(0);
    const old = current;
    current = next;
    await old.close();
  }

  return {
    get definition() {
      return current.definition;
    },
    endpoints: () => current.endpoints(),
    start: () => current.start(),
    handle: (request, options) => current.handle(request, options),
    dryRun: (signal) => current.dryRun(signal),
    reload: (targets) => current.reload(targets),
    replace(definition) {
      const next = replaced.then(() => replace(definition));
      replaced = next.catch(() => {});
      return next;
    },
    close(graceMs) {
      isClosed = true;
      return current.close(graceMs);
    },
  };
}
