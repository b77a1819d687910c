/** Web pages of other sites have no business with a flow that knows nobody: unless it says so (`cors`), or has a token. */
import type { IncomingMessage } from 'node:http';
import { isCrossSite } from '#api/cross-site.ts';

const FOREIGN = 'Web pages of other sites may not use this flow: it has no token, and its option `cors` is off';
export interface FlowAccess {
  readonly token?: string | undefined;
  readonly cors: boolean;
}

/** Why such a request is refused; undefined for all others. `ownNames` are host names under which the flow is known. */
export const crossSiteRefusal =
  ({ token, cors }: FlowAccess, ownNames: readonly string[]) =>
  ({ headers }: IncomingMessage): string | undefined =>
    !token && !cors && isCrossSite(headers, ownNames) ? FOREIGN : undefined;
