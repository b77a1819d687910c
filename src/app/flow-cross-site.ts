/** Refuses requests from web pages of other sites to a flow without a token, unless its `cors` option is on. */
import type { IncomingMessage } from 'node:http';
import { isCrossSite, isOwnPage, type OwnOrigins } from '#api/cross-site.ts';

const REFUSAL =
  'Web pages of other sites may not use this flow: it has no token, and its `cors` option is off. Set one of them';

export interface FlowAccess {
  readonly token?: string | undefined;
  readonly cors: boolean;
}

/**
 * Returns the reason why a request is refused; `undefined` if it is accepted. `ownNames` are the host names of the
 * flow. `ownPages` are pages of this server, which may use the flow.
 */
export const createCrossSiteRefusal =
  ({ token, cors }: FlowAccess, ownNames: readonly string[], ownPages?: OwnOrigins) =>
  ({ headers }: IncomingMessage): string | undefined => {
    const isRefused = !token && !cors && isCrossSite(headers, ownNames);
    return isRefused && !(ownPages && isOwnPage(headers, ownNames, ownPages)) ? REFUSAL : undefined;
  };
