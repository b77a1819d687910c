/** The engine that renders: a page in Chromium, its scripts run, captured as it settles. */
import type { Engine } from '../engine.ts';
import type { Pool } from './pool.ts';
import { type VisitTools, visitPage } from './visit.ts';

export interface BrowserEngineConfig extends VisitTools {
  readonly pool: Pool;
}

/** Closing the engine closes its pool. */
export function createBrowserEngine({ pool, ...tools }: BrowserEngineConfig): Engine {
  return {
    name: 'browser',
    async *visit(visit) {
      const lease = await pool.lease(visit.signal, visit.deadline - performance.now());
      try {
        yield* visitPage(visit, lease, tools);
      } finally {
        lease.release();
      }
    },
    close: () => pool.close(),
  };
}
